package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.util.Time;

/** The parts of Elastane that fail alone: Java's, and the core's. */
final class Parts {
  private static final ObjectMapper JSON = new ObjectMapper();

  final Part reports;
  final Part status;
  final Part memoryPreemption;
  final Part page;
  private final CoreHandle core;

  Parts(CoreHandle core, ElastaneMetrics metrics) {
    this.core = core;
    reports = new Part("reports", metrics, Time::monotonicNow);
    status = new Part("status", metrics, Time::monotonicNow);
    memoryPreemption = new Part("memory preemption", metrics, Time::monotonicNow);
    page = new Part("page", metrics, Time::monotonicNow);
  }

  /** The names of the parts that are out of service now. */
  List<String> outOfService() {
    List<String> names = new ArrayList<>();
    for (Part part : new Part[] {reports, status, memoryPreemption, page}) {
      if (!part.isInService()) {
        names.add(part.name());
      }
    }
    JsonNode health = health();
    for (String part : new String[] {"depository", "journal"}) {
      if (!health.path(part + "_in_service").asBoolean(true)) {
        names.add(part);
      }
    }
    return names;
  }

  long depositoryFailures() {
    return health().path("depository_failures").asLong();
  }

  long journalFailures() {
    return health().path("journal_failures").asLong();
  }

  long learningFailures() {
    return health().path("learning_failures").asLong();
  }

  /** Empty while no core is open. */
  private JsonNode health() {
    try {
      return JSON.readTree(core.health());
    } catch (CoreHandle.CoreClosedException | JsonProcessingException e) {
      return JSON.createObjectNode();
    }
  }
}
