package org.elastane.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.SortedMap;

/** The containers with a process at one moment, and whether one still waits for its process. */
final class RunningContainers {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SortedMap<String, ContainerProcess> processes;
  private final boolean awaitingPid;

  /**
   * @param processes by container id
   * @param awaitingPid whether a container runs whose pid is not known yet
   */
  RunningContainers(SortedMap<String, ContainerProcess> processes, boolean awaitingPid) {
    this.processes = processes;
    this.awaitingPid = awaitingPid;
  }

  boolean awaitingPid() {
    return awaitingPid;
  }

  /**
   * {@code [{"container","pid","memory_bytes"}]}, ordered by id so that equal sets give equal
   * texts.
   */
  String toJson() {
    ArrayNode list = JSON.createArrayNode();
    processes.forEach(
        (container, process) ->
            list.addObject()
                .put("container", container)
                .put("pid", process.pid)
                .put("memory_bytes", process.requestMemoryBytes));
    try {
      return JSON.writeValueAsString(list);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of strings and numbers is always JSON", e);
    }
  }
}
