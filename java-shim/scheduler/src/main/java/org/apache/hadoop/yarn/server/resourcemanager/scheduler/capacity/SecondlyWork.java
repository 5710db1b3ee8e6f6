package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** What {@link Housekeeping} does once a second while the core is in service. */
final class SecondlyWork implements Runnable {
  private final CoreGuard guard;
  private final BookableCapacity bookable;
  private final Reconciliation reconciliation;
  private final NodeDrains drains;
  private final Part memoryPreemption;
  private final MemoryPreemption memory;

  SecondlyWork(
      CoreGuard guard,
      BookableCapacity bookable,
      Reconciliation reconciliation,
      NodeDrains drains,
      Part memoryPreemption,
      MemoryPreemption memory) {
    this.guard = guard;
    this.bookable = bookable;
    this.reconciliation = reconciliation;
    this.drains = drains;
    this.memoryPreemption = memoryPreemption;
    this.memory = memory;
  }

  @Override
  public void run() {
    // In mode observe as well: no node is resized, but the core does its own part in this call.
    // Heartbeats resize the nodes: here others would wait for the scheduler's lock.
    guard.run("bookable capacity", bookable::follow);
    guard.run("reconciliation", reconciliation::checkSome);
    guard.run("nodes drained", drains::follow);
    guard.part(memoryPreemption, memory::follow);
  }
}
