package org.elastane.node;

import java.util.concurrent.TimeUnit;

/** Wakes one thread after a change. Raising the signal is cheap and does not block. */
final class ChangeSignal {
  private boolean raised;

  synchronized void raise() {
    raised = true;
    notifyAll();
  }

  /**
   * Waits until the signal is raised or the time-out ends, then clears the signal.
   *
   * @return whether it was raised
   */
  synchronized boolean await(long timeoutMs) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    long leftNs = deadline - System.nanoTime();
    while (!raised && leftNs > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      leftNs = deadline - System.nanoTime();
    }
    boolean was = raised;
    raised = false;
    return was;
  }
}
