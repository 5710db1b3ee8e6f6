package org.elastane.node;

import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.NodeId;

/** A node whose containers the test sets. */
final class FakeNode implements NodeState {
  static final NodeId NAME = NodeId.newInstance("127.0.0.1", 45454);

  /** The requested memory of each container. */
  static final long REQUEST_MEMORY_BYTES = 1024L * 1024L * 1024L;

  private final TreeMap<String, ContainerProcess> processes = new TreeMap<>();
  private boolean awaitingPid;
  private boolean registered = true;
  private RuntimeException fault;
  private int looks;

  synchronized void run(String container, long pid) {
    processes.put(container, new ContainerProcess(pid, REQUEST_MEMORY_BYTES));
  }

  synchronized void end(String container) {
    processes.remove(container);
  }

  synchronized void awaitPid(boolean awaiting) {
    awaitingPid = awaiting;
  }

  synchronized void register(boolean isRegistered) {
    registered = isRegistered;
  }

  /** Every read throws this until it is null again. */
  synchronized void fail(RuntimeException with) {
    fault = with;
  }

  /** The number of reads. */
  synchronized int looks() {
    return looks;
  }

  @Override
  public synchronized RunningContainers runningContainers() {
    look();
    return new RunningContainers(new TreeMap<>(processes), awaitingPid);
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
