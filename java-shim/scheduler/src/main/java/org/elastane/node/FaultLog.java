package org.elastane.node;

import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each kind of fault once; its thread goes on. A fault is an unexpected exception of Hadoop,
 * the library or Elastane's code. Its kind is its class and the line that threw it.
 */
final class FaultLog {
  private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

  private final String task;
  private final Set<String> said = new HashSet<>();

  /**
   * @param task the work to be named in the log, as "to tell the agent"
   */
  FaultLog(String task) {
    this.task = task;
  }

  void failed(RuntimeException fault) {
    StackTraceElement[] trace = fault.getStackTrace();
    String where = trace.length == 0 ? "" : trace[0].toString();
    if (said.add(fault.getClass().getName() + " " + where)) {
      LOG.error("Failed {}; will retry (logged once for each kind of failure)", task, fault);
    }
  }
}
