package org.elastane.usage;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;

/**
 * Logs refused reports once for each node and reason. An accepted report resets its node, so that a
 * later refusal is logged again.
 */
final class RefusalLog {
  private final Logger log;
  private final int mostNodes;
  private final Map<String, Set<RefusalReason>> said = new HashMap<>();
  private boolean fullSaid;

  /**
   * @param mostNodes the bound on remembered nodes: a caller may claim any name, and neither memory
   *     nor log may grow without bound
   */
  RefusalLog(Logger log, int mostNodes) {
    this.log = log;
    this.mostNodes = mostNodes;
  }

  synchronized void refused(String node, ReportRefusedException refusal) {
    Set<RefusalReason> reasons = said.get(node);
    if (reasons == null) {
      if (said.size() >= mostNodes) {
        sayFull();
        return;
      }
      reasons = EnumSet.noneOf(RefusalReason.class);
      said.put(node, reasons);
    }
    if (reasons.add(refusal.reason())) {
      log.warn(
          "Refused a report for node {}: {} (logged once for each node and reason)",
          node,
          refusal.getMessage());
    }
  }

  synchronized void accepted(String node) {
    if (said.remove(node) != null) {
      log.info("Reports of node {} are accepted again", node);
    }
  }

  private void sayFull() {
    if (!fullSaid) {
      fullSaid = true;
      log.warn(
          "Reports for {} nodes were refused; refusals for further nodes are only counted",
          mostNodes);
    }
  }
}
