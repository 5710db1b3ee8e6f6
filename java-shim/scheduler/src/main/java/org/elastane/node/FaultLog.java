package org.elastane.node;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once for each kind of fault that a thread met it and goes on. A fault is what nobody
 * foresaw, in Hadoop, in the library or in our own code; its kind is its class and where it was
 * thrown.
 */
final class FaultLog {
  private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

  private final String task;
  private final Set<String> said = new HashSet<>();

  /**
   * @param task what goes on, as it is to be named in the log
   */
  FaultLog(String task) {
    this.task = task;
  }

  void failed(RuntimeException fault) {
    StackTraceElement[] trace = fault.getStackTrace();
    String where = trace.length == 0 ? "" : trace[0].toString();
    if (said.add(fault.getClass().getName() + " " + where)) {
      LOG.error("A fault while {}, which is tried again (said once for each kind)", task, fault);
    }
  }
}
