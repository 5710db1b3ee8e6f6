package org.elastane.natives;

/** libelastane.so cannot be used. The message is one line and names the places searched. */
public final class NativeLibraryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NativeLibraryException(String message) {
    super(message);
  }

  NativeLibraryException(String message, Throwable cause) {
    super(message, cause);
  }
}
