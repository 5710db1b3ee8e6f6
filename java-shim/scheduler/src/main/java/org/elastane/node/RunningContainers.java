package org.elastane.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.SortedMap;

/** The containers with a process at one moment, and whether one has still to get its process. */
final class RunningContainers {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SortedMap<String, Long> pids;
  private final boolean awaitingPid;

  /**
   * @param pids by container id: where the process tree of the container begins
   * @param awaitingPid whether a container runs whose pid is not known yet
   */
  RunningContainers(SortedMap<String, Long> pids, boolean awaitingPid) {
    this.pids = pids;
    this.awaitingPid = awaitingPid;
  }

  boolean awaitingPid() {
    return awaitingPid;
  }

  /** {@code [{"container","pid"}]} in the order of the ids, so that equal sets are equal texts. */
  String toJson() {
    ArrayNode list = JSON.createArrayNode();
    pids.forEach((container, pid) -> list.addObject().put("container", container).put("pid", pid));
    try {
      return JSON.writeValueAsString(list);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of strings and numbers is always JSON", e);
    }
  }
}
