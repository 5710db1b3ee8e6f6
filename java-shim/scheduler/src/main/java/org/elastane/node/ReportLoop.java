package org.elastane.node;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.retry.Backoff;
import org.elastane.usage.UsageReply;

/** Carries the agent's report to the ResourceManager and the reply back, once per interval. */
final class ReportLoop implements Runnable {
  /** The active ResourceManager. */
  interface ResourceManager {
    UsageReply report(NodeId node, int version, byte[] body) throws IOException;
  }

  private final NodeState node;
  private final AgentLink agent;
  private final ResourceManager resourceManager;
  private final Outage outage;
  private final Backoff backoff;
  private final long intervalMs;
  private final FaultLog faults = new FaultLog("to forward the agent's report");

  ReportLoop(
      NodeState node,
      AgentLink agent,
      ResourceManager resourceManager,
      Outage outage,
      Backoff backoff,
      long intervalMs) {
    this.node = node;
    this.agent = agent;
    this.resourceManager = resourceManager;
    this.outage = outage;
    this.backoff = backoff;
    this.intervalMs = intervalMs;
  }

  @Override
  public void run() {
    try {
      while (!Thread.currentThread().isInterrupted()) {
        long begunNs = System.nanoTime();
        long waitMs = reportOnce() ? intervalMs : Math.min(intervalMs, backoff.failed());
        long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNs);
        Thread.sleep(Math.max(0, waitMs - tookMs));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** False if the exchange failed. True before the node has registered: there is no report then. */
  private boolean reportOnce() {
    try {
      Optional<NodeId> name = node.registeredAs();
      if (!name.isPresent()) {
        return true;
      }
      byte[] body = agent.collect();
      UsageReply reply = hand(name.get(), body);
      agent.apply(reply.version(), reply.body());
      backoff.succeeded();
      return true;
    } catch (IOException e) {
      // Logged by the Outage of the side that failed.
      return false;
    } catch (RuntimeException e) {
      faults.failed(e);
      return false;
    }
  }

  private UsageReply hand(NodeId name, byte[] body) throws IOException {
    try {
      UsageReply reply = resourceManager.report(name, agent.version(), body);
      outage.succeeded();
      return reply;
    } catch (IOException e) {
      // A call interrupted by the stop of this NodeManager is no outage of the other side.
      if (!Thread.currentThread().isInterrupted()) {
        outage.failed(e);
      }
      throw e;
    }
  }
}
