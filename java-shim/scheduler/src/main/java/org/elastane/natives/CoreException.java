package org.elastane.natives;

/** The core failed or panicked, and must not be called again. */
public final class CoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CoreException(String message) {
    super(message);
  }
}
