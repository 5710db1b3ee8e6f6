package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.util.Time;

/** The parts of Elastane that fail alone: Java's, and the core's. */
final class Parts {
  final Part reports;
  final Part status;
  final Part memoryPreemption;
  final Part page;
  final Part userLimits;
  private final CoreHandle core;

  Parts(CoreHandle core, ElastaneMetrics metrics) {
    this.core = core;
    reports = new Part("reports", metrics, Time::monotonicNow);
    status = new Part("status", metrics, Time::monotonicNow);
    memoryPreemption = new Part("memory preemption", metrics, Time::monotonicNow);
    page = new Part("page", metrics, Time::monotonicNow);
    userLimits = new Part("user limits", metrics, Time::monotonicNow);
  }

  /** Whether each part works now. */
  List<State> states() {
    List<State> states = new ArrayList<>();
    for (Part part : new Part[] {reports, status, memoryPreemption, page, userLimits}) {
      states.add(new State(part.name(), part.isInService()));
    }
    JsonNode health = health();
    for (String part : new String[] {"depository", "journal"}) {
      states.add(new State(part, health.path(part + "_in_service").asBoolean(true)));
    }
    return states;
  }

  /** The names of the parts that are out of service now. */
  List<String> outOfService() {
    List<String> names = new ArrayList<>();
    for (State state : states()) {
      if (!state.isInService) {
        names.add(state.name);
      }
    }
    return names;
  }

  /** Missing while no core is open. */
  private JsonNode health() {
    String health = core.health();
    return health == null ? MissingNode.getInstance() : CoreJson.read("health", health);
  }

  /** Whether a part works. */
  static final class State {
    private final String name;
    private final boolean isInService;

    State(String name, boolean isInService) {
      this.name = name;
      this.isInService = isInService;
    }

    String name() {
      return name;
    }

    boolean isInService() {
      return isInService;
    }

    /** The name as metrics begin with it: {@code MemoryPreemption}. */
    String metricName() {
      return StringUtils.camelize(name.replace(' ', '_'));
    }
  }
}
