package org.elastane.node;

import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.api.ResourceManagerConstants;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.NodeStatusUpdater;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.Container;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerState;

/**
 * Reads the live NodeManager and caches nothing: a relaunched container has another pid, and the
 * executor knows each pid for as long as the process lives, also across a NodeManager's restart.
 */
final class NodeManagerState implements NodeState {
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  private final Context context;

  NodeManagerState(Context context) {
    this.context = context;
  }

  @Override
  public RunningContainers runningContainers() {
    SortedMap<String, ContainerProcess> processes = new TreeMap<>();
    boolean awaitingPid = false;
    for (Container container : context.getContainers().values()) {
      // Reads a file that the launcher wrote, so this must not run on a dispatcher thread.
      String pid = context.getContainerExecutor().getProcessId(container.getContainerId());
      if (isNumber(pid)) {
        long requestMemoryBytes = container.getResource().getMemorySize() * BYTES_PER_MIB;
        processes.put(
            container.getContainerId().toString(),
            new ContainerProcess(Long.parseLong(pid), requestMemoryBytes));
      } else if (container.getContainerState() == ContainerState.RUNNING) {
        awaitingPid = true;
      }
    }
    return new RunningContainers(processes, awaitingPid);
  }

  @Override
  public Optional<NodeId> registeredAs() {
    NodeStatusUpdater updater = context.getNodeStatusUpdater();
    boolean registered =
        updater != null
            && updater.getRMIdentifier() != ResourceManagerConstants.RM_INVALID_IDENTIFIER;
    return registered ? Optional.ofNullable(context.getNodeId()) : Optional.empty();
  }

  private static boolean isNumber(String pid) {
    return pid != null && !pid.isEmpty() && pid.chars().allMatch(Character::isDigit);
  }
}
