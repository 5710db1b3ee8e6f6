package org.elastane.usage;

import java.io.IOException;

/** A report was refused and changed nothing. Reaches the NodeManager as a RemoteException. */
public final class ReportRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final RefusalReason reason;

  public ReportRefusedException(RefusalReason reason, String message) {
    super(reason + ": " + message);
    this.reason = reason;
  }

  /** For Hadoop IPC, which rebuilds an exception from its class name and message. */
  public ReportRefusedException(String message) {
    super(message);
    this.reason = null;
  }

  /** The reason; null if Hadoop IPC rebuilt the exception. */
  public RefusalReason reason() {
    return reason;
  }
}
