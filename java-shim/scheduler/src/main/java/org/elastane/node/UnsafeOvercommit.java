package org.elastane.node;

import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * Settings with which a NodeManager cannot run more than its registered size. Such a node must not
 * report, since a node without reports is never raised.
 */
final class UnsafeOvercommit {
  private static final String PREFIX = "yarn.nodemanager.";
  private static final String QUEUE_LENGTH = PREFIX + "opportunistic-containers-max-queue-length";
  private static final String QUEUE_POLICY = PREFIX + "opportunistic-containers-queue-policy";
  private static final String ELASTIC_MEMORY = PREFIX + "elastic-memory-control.enabled";

  private UnsafeOvercommit() {}

  /** The setting and its effect; empty if the node may be raised. */
  static Optional<String> find(Configuration conf) {
    int queueLength = conf.getInt(QUEUE_LENGTH, 0);
    if (queueLength > 0) {
      return Optional.of(
          QUEUE_LENGTH
              + " is "
              + queueLength
              + ", so containers above the registered size would be queued");
    }
    // Hadoop 3.3 has no such policy and no constant for it.
    String policy = conf.getTrimmed(QUEUE_POLICY, "").toUpperCase(Locale.ROOT);
    if (policy.equals("BY_RESOURCES")) {
      return Optional.of(
          QUEUE_POLICY
              + " is BY_RESOURCES, so containers above the registered size would be queued");
    }
    if (conf.getBoolean(ELASTIC_MEMORY, false)) {
      return Optional.of(
          ELASTIC_MEMORY
              + " is true, so all containers together are limited to the registered size");
    }
    return Optional.empty();
  }
}
