package org.elastane.usage;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.thirdparty.com.google.common.base.Ticker;
import org.apache.hadoop.thirdparty.com.google.common.cache.CacheBuilder;
import org.apache.hadoop.thirdparty.com.google.common.cache.CacheLoader;
import org.apache.hadoop.thirdparty.com.google.common.cache.LoadingCache;
import org.apache.hadoop.yarn.api.records.NodeId;

/**
 * Counts each node's reports, so that one node cannot keep the core's lock from the heartbeats of
 * all others.
 */
final class ReportRates {
  /** A NodeManager reports once a second at most, and a few times more after a failed exchange. */
  static final int MOST_IN_A_SECOND = 10;

  /** For each node that reported within a second, the reports of its current second. */
  private final LoadingCache<NodeId, AtomicInteger> counts;

  ReportRates(Ticker ticker) {
    counts =
        CacheBuilder.newBuilder()
            .ticker(ticker)
            .expireAfterWrite(1, TimeUnit.SECONDS)
            .build(CacheLoader.from(node -> new AtomicInteger()));
  }

  /** Counts a report of a node whose identity is verified. */
  void count(NodeId node) throws ReportRefusedException {
    if (counts.getUnchecked(node).incrementAndGet() > MOST_IN_A_SECOND) {
      throw new ReportRefusedException(
          RefusalReason.TOO_MANY,
          "the node has sent more than " + MOST_IN_A_SECOND + " reports within a second");
    }
  }
}
