package org.elastane.node;

import java.io.IOException;
import org.elastane.retry.Backoff;

/** Tells the agent at once when a container's process starts or ends. */
final class ContainerWatch implements Runnable {
  /** The delay until a started process is seen. */
  private static final long PID_POLL_MS = 100;

  /** A container without a pid after this many polls is assumed never to publish one. */
  private static final int MOST_PID_POLLS = 100;

  private static final long IDLE_MS = 3000;

  private final AgentLink agent;
  private final ChangeSignal changes;
  private final Backoff backoff;
  private final FaultLog faults = new FaultLog("to tell the agent which containers run");

  ContainerWatch(AgentLink agent, ChangeSignal changes, Backoff backoff) {
    this.agent = agent;
    this.changes = changes;
    this.backoff = backoff;
  }

  @Override
  public void run() {
    int pidPolls = 0;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        long waitMs;
        try {
          boolean poll = agent.tellIfChanged() && pidPolls < MOST_PID_POLLS;
          pidPolls = poll ? pidPolls + 1 : pidPolls;
          waitMs = poll ? PID_POLL_MS : IDLE_MS;
          backoff.succeeded();
        } catch (IOException e) {
          // Logged by the agent's Outage.
          waitMs = backoff.failed();
        } catch (RuntimeException e) {
          faults.failed(e);
          waitMs = backoff.failed();
        }
        if (changes.await(waitMs)) {
          pidPolls = 0;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
