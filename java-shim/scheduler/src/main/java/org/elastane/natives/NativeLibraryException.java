package org.elastane.natives;

/** libelastane.so cannot be used; the message is one line and says where it was looked for. */
public final class NativeLibraryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NativeLibraryException(String message) {
    super(message);
  }

  NativeLibraryException(String message, Throwable cause) {
    super(message, cause);
  }
}
