package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.elastane.depository.DepositoryCopies;
import org.elastane.natives.Natives;

/**
 * The open core of this scheduler, asked in YARN's types.
 *
 * <p>The only place of the scheduler that calls {@link Natives}. The read lock around every call
 * and the write lock around {@link #close()} see to it that no handle is used after it was closed.
 * What the core throws passes through; {@link CoreGuard} is there to catch it.
 */
final class CoreHandle implements AutoCloseable, DepositoryCopies {
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final long handle;
  private final SteadyClock clock;
  private boolean closed;

  private CoreHandle(long handle, SteadyClock clock) {
    this.handle = handle;
    this.clock = clock;
  }

  /**
   * Opens a core.
   *
   * @param clock tells every time that the core is told
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  static CoreHandle open(String settingsJson, boolean virtualCoresCount, SteadyClock clock) {
    return new CoreHandle(Natives.open(settingsJson, virtualCoresCount), clock);
  }

  int nodeAdded(String node, Resource registered) {
    return call(
        core ->
            Natives.nodeAdded(
                core, node, memoryBytes(registered), registered.getVirtualCores(), nowMs()));
  }

  void nodeResized(int node, Resource registered) {
    tell(
        core ->
            Natives.nodeResized(
                core, node, memoryBytes(registered), registered.getVirtualCores(), nowMs()));
  }

  void nodeRemoved(int node) {
    tell(core -> Natives.nodeRemoved(core, node, nowMs()));
  }

  int applicationAdded(String applicationJson) {
    return call(core -> Natives.applicationAdded(core, applicationJson, nowMs()));
  }

  void applicationMoved(int application, String queue) {
    tell(core -> Natives.applicationMoved(core, application, queue, nowMs()));
  }

  void applicationRemoved(int application, boolean succeeded) {
    tell(core -> Natives.applicationRemoved(core, application, succeeded, nowMs()));
  }

  void pending(int application, PendingAsks asks) {
    tell(
        core ->
            Natives.pending(
                core,
                application,
                asks.isForApplicationMaster(),
                asks.getRequestPriority(),
                asks.getPriority(),
                memoryBytes(asks.getMemoryMib()),
                asks.getVirtualCores(),
                asks.getCount(),
                nowMs()));
  }

  /**
   * The applications that may go to a node; see {@link Natives#round}.
   *
   * @return how many numbers were written, or -1 for CapacityScheduler's own order
   */
  int round(int node, long freeMemoryMib, int freeVirtualCores, NumberBuffer result) {
    return call(
        core ->
            Natives.round(
                core,
                node,
                memoryBytes(freeMemoryMib),
                freeVirtualCores,
                result.address(),
                result.capacity(),
                nowMs()));
  }

  /** Tells the core of a container that begins now; false when it refuses it. */
  boolean commit(CoreContainer container, boolean mayRefuse) {
    long nowMs = nowMs();
    return commit(container, mayRefuse, nowMs, nowMs);
  }

  /** Tells the core of a container that runs, and since when. */
  void runs(CoreContainer container, long startedMs) {
    long nowMs = nowMs();
    // CapacityScheduler's time may lie ahead of ours, where the machine's clock was set.
    commit(container, false, Math.min(startedMs, nowMs), nowMs);
  }

  private boolean commit(CoreContainer container, boolean mayRefuse, long startedMs, long nowMs) {
    return call(
        core ->
            Natives.commit(
                core,
                container.id.toString(),
                container.application,
                container.node,
                container.applicationMaster,
                container.requestPriority,
                memoryBytes(container.size),
                container.size.getVirtualCores(),
                mayRefuse,
                startedMs,
                nowMs));
  }

  void finished(ContainerId container) {
    tell(core -> Natives.finished(core, container.toString(), nowMs()));
  }

  byte[] report(String node, int protocolVersion, byte[] body) {
    return call(core -> Natives.report(core, node, protocolVersion, body, nowMs()));
  }

  /** Writes pairs of node number and ratio in thousandths; returns how many. */
  int bookableChanges(NumberBuffer result) {
    return call(
        core -> Natives.bookableChanges(core, result.address(), result.capacity() / 2, nowMs()));
  }

  boolean mayPreempt(double queueAbsoluteCapacity, Resource queueUsed) {
    return call(
        core ->
            Natives.mayPreempt(
                core,
                queueAbsoluteCapacity,
                memoryBytes(queueUsed),
                queueUsed.getVirtualCores(),
                nowMs()));
  }

  /** Who gives way where memory is short, as JSON; null for nobody. */
  String memoryVictims(long waitMs) {
    return call(core -> Natives.memoryVictims(core, waitMs, nowMs()));
  }

  @Override
  public void copyTo(Path file) throws IOException {
    call(
        core -> {
          Natives.copyDepository(core, file.toString());
          return null;
        });
  }

  @Override
  public int takeOver(Path file) throws IOException {
    return call(core -> Natives.takeOverDepository(core, file.toString()));
  }

  /** What the core knows and counted, as JSON. */
  String status() {
    return call(core -> Natives.status(core, nowMs()));
  }

  /** The handle itself, for the tests of the boundary. */
  long handleForTest() {
    return handle;
  }

  @Override
  public void close() {
    lock.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        Natives.close(handle);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  private <T, E extends Exception> T call(Call<T, E> call) throws E {
    lock.readLock().lock();
    try {
      if (closed) {
        throw new CoreClosedException();
      }
      return call.on(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  private void tell(Tell tell) {
    call(
        core -> {
          tell.on(core);
          return null;
        });
  }

  private static long memoryBytes(Resource size) {
    return memoryBytes(size.getMemorySize());
  }

  private static long memoryBytes(long memoryMib) {
    return memoryMib * BYTES_PER_MIB;
  }

  private long nowMs() {
    return clock.nowMs();
  }

  private interface Call<T, E extends Exception> {
    T on(long core) throws E;
  }

  private interface Tell {
    void on(long core);
  }

  /** The scheduler is stopping: a thread asked after {@link #close()}. */
  static final class CoreClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    CoreClosedException() {
      super("the core is closed");
    }
  }
}
