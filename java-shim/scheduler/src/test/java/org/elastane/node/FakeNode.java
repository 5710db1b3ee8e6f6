package org.elastane.node;

import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.NodeId;

/** A node whose containers the test decides. */
final class FakeNode implements NodeState {
  static final NodeId NAME = NodeId.newInstance("127.0.0.1", 45454);

  private final TreeMap<String, Long> pids = new TreeMap<>();
  private boolean awaitingPid;
  private boolean registered = true;
  private RuntimeException fault;
  private int looks;

  synchronized void run(String container, long pid) {
    pids.put(container, pid);
  }

  synchronized void end(String container) {
    pids.remove(container);
  }

  synchronized void awaitPid(boolean awaiting) {
    awaitingPid = awaiting;
  }

  synchronized void register(boolean isRegistered) {
    registered = isRegistered;
  }

  /** Every look ends with this, until it is null again. */
  synchronized void fail(RuntimeException with) {
    fault = with;
  }

  /** How often it was looked at. */
  synchronized int looks() {
    return looks;
  }

  @Override
  public synchronized RunningContainers runningContainers() {
    look();
    return new RunningContainers(new TreeMap<>(pids), awaitingPid);
  }

  @Override
  public synchronized Optional<NodeId> registeredAs() {
    look();
    return registered ? Optional.of(NAME) : Optional.empty();
  }

  private void look() {
    looks++;
    if (fault != null) {
      throw fault;
    }
  }
}
