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

  /** Hadoop IPC rebuilds an exception by the class name and the message alone. */
  public ReportRefusedException(String message) {
    super(message);
    this.reason = null;
  }

  /** The reason, null where the exception was rebuilt from its message. */
  public RefusalReason reason() {
    return reason;
  }
}
