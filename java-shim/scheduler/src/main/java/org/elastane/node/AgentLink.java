package org.elastane.node;

import java.io.IOException;

/**
 * Talks to this node's agent, one exchange at a time. Reads the list of containers within the
 * exchange, so that an older list never follows a newer one.
 */
final class AgentLink {
  private final NodeState node;
  private final AgentConnection agent;
  private final Outage outage;
  private String told;

  AgentLink(NodeState node, AgentConnection agent, Outage outage) {
    this.node = node;
    this.agent = agent;
    this.outage = outage;
  }

  /**
   * Tells the agent which containers run if the list has changed.
   *
   * @return whether a container runs whose pid is not known yet
   */
  synchronized boolean tellIfChanged() throws IOException {
    RunningContainers containers = node.runningContainers();
    String json = containers.toJson();
    if (!json.equals(told)) {
      exchange(
          () -> {
            agent.tell(json);
            return null;
          });
      told = json;
    }
    return containers.awaitingPid();
  }

  /** The version of the bodies that {@link #collect} returns. */
  int version() {
    return agent.version();
  }

  /** The agent's report for the ResourceManager. */
  synchronized byte[] collect() throws IOException {
    String json = node.runningContainers().toJson();
    byte[] body = exchange(() -> agent.collect(json));
    told = json;
    return body;
  }

  /** Hands the agent the ResourceManager's reply. */
  synchronized void apply(int version, byte[] reply) throws IOException {
    exchange(
        () -> {
          agent.apply(version, reply);
          return null;
        });
  }

  private <T> T exchange(Exchange<T> exchange) throws IOException {
    try {
      T answer = exchange.run();
      outage.succeeded();
      return answer;
    } catch (IOException e) {
      // A restarted agent knows no container.
      told = null;
      outage.failed(e);
      throw e;
    } catch (RuntimeException e) {
      // The agent may or may not have taken the list.
      told = null;
      throw e;
    }
  }

  private interface Exchange<T> {
    T run() throws IOException;
  }
}
