package org.elastane.node;

import java.io.IOException;

/** Tells the agent at once when a container got its process or lost it. */
final class ContainerWatch implements Runnable {
  /** How soon a process that has just begun is seen. */
  private static final long PID_POLL_MS = 100;

  /** A container that has no pid for so long is one that never shows it. */
  private static final int MOST_PID_POLLS = 100;

  private static final long IDLE_MS = 3000;

  private final AgentLink agent;
  private final ChangeSignal changes;
  private final Backoff backoff;
  private final FaultLog faults = new FaultLog("telling the agent what runs");

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
          // Said already, by the agent's outage.
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
