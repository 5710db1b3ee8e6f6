package org.elastane.node;

import java.io.IOException;

/**
 * What this node tells its agent, one exchange at a time. The list of containers is read inside the
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
   * Tells the agent what runs, unless it was told the same before.
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

  /** The version of the bodies that this side hands out. */
  int version() {
    return agent.version();
  }

  /** The agent's report of what runs: a body for the ResourceManager. */
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
      // It may have been started anew, and then it knows of no container.
      told = null;
      outage.failed(e);
      throw e;
    } catch (RuntimeException e) {
      // Nor is it known then what the agent took in.
      told = null;
      throw e;
    }
  }

  private interface Exchange<T> {
    T run() throws IOException;
  }
}
