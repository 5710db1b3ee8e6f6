package org.elastane.rest;

/** A call of the REST that is not answered, in one line for the caller. */
public final class RestException extends Exception {
  private static final long serialVersionUID = 1;
  private static final int BAD_REQUEST = 400;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;

  private final int status;

  private RestException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** What was asked for is not allowed. */
  public static RestException notAllowed(String message) {
    return new RestException(BAD_REQUEST, message);
  }

  /** What was asked for is for others than the caller. */
  public static RestException forbidden(String message) {
    return new RestException(FORBIDDEN, message);
  }

  /** What was asked for is not there, or not for the caller. */
  public static RestException notThere(String message) {
    return new RestException(NOT_FOUND, message);
  }

  /** There is no answer now. */
  public static RestException notNow(String message) {
    return new RestException(UNAVAILABLE, message);
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }
}
