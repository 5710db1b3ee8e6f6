package org.elastane.usage;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.thirdparty.com.google.common.base.Ticker;
import org.apache.hadoop.thirdparty.com.google.common.cache.Cache;
import org.apache.hadoop.thirdparty.com.google.common.cache.CacheBuilder;
import org.slf4j.Logger;

/**
 * Logs refused reports once an hour for each node and reason. An accepted report resets what the
 * node itself did wrong, so that a later refusal is logged again. It resets no false caller's
 * claim: the node does not end that by reporting.
 */
final class RefusalLog {
  /** A node whose reports are refused and accepted in turn must not fill the log. */
  private static final int MOST_RESETS = 10;

  private final Logger log;
  private final int mostStrangers;

  /** As many as there are registered nodes. */
  private final Cache<String, Said> registered;

  /** Names that no node has registered: whoever reaches the port can make them up. */
  private final Cache<String, Said> strangers;

  private boolean fullSaid;

  /**
   * @param mostStrangers the bound on names that no node has registered, within an hour
   */
  RefusalLog(Logger log, int mostStrangers) {
    this(log, mostStrangers, Ticker.systemTicker());
  }

  RefusalLog(Logger log, int mostStrangers, Ticker ticker) {
    this.log = log;
    this.mostStrangers = mostStrangers;
    registered = anHour(ticker);
    strangers = anHour(ticker);
  }

  private static Cache<String, Said> anHour(Ticker ticker) {
    return CacheBuilder.newBuilder().ticker(ticker).expireAfterWrite(1, TimeUnit.HOURS).build();
  }

  synchronized void refused(String node, ReportRefusedException refusal) {
    RefusalReason reason = refusal.reason();
    Said said = reason.isOfNoNode() ? ofStranger(node) : in(registered, node);
    if (said != null && said.reasons.add(reason)) {
      log.warn(
          "Refused a report for node {}: {} (logged once an hour for each node and reason)",
          node,
          refusal.getMessage());
    }
  }

  synchronized void accepted(String node) {
    Said said = registered.getIfPresent(node);
    boolean wasStranger = strangers.asMap().remove(node) != null;
    if (wasStranger || (said != null && said.reset())) {
      log.info("Reports of node {} are accepted again", node);
    }
  }

  /** Null for one name too many. */
  private Said ofStranger(String node) {
    strangers.cleanUp();
    if (strangers.size() >= mostStrangers && strangers.getIfPresent(node) == null) {
      sayFull();
      return null;
    }
    fullSaid = strangers.size() >= mostStrangers && fullSaid;
    return in(strangers, node);
  }

  private void sayFull() {
    if (!fullSaid) {
      fullSaid = true;
      log.warn(
          "Reports for {} names that no node has registered were refused within an hour; refusals"
              + " for further such names are only counted",
          mostStrangers);
    }
  }

  private static Said in(Cache<String, Said> names, String node) {
    return names.asMap().computeIfAbsent(node, unknown -> new Said());
  }

  private static final class Said {
    private final Set<RefusalReason> reasons = EnumSet.noneOf(RefusalReason.class);
    private int resets;

    /** Whether there was something to forget. */
    boolean reset() {
      boolean isReset = resets < MOST_RESETS && reasons.removeIf(RefusalReason::isOfVerifiedCaller);
      resets += isReset ? 1 : 0;
      return isReset;
    }
  }
}
