package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.elastane.depository.DepositoryCopies;
import org.elastane.natives.CoreException;
import org.elastane.natives.Natives;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The core of this scheduler, called with YARN's types.
 *
 * <p>The scheduler calls {@link Natives} here only. Every call takes the read lock and {@link
 * #close()} the write lock, so a closed handle is never used. Exceptions of the core pass through
 * to {@link CoreGuard}.
 */
final class CoreHandle implements AutoCloseable, DepositoryCopies {
  private static final Logger LOG = LoggerFactory.getLogger(CoreHandle.class);
  private static final long BYTES_PER_MIB = 1024L * 1024L;
  private static final long NOT_OPEN = 0;

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile String settingsJson;
  private final boolean virtualCoresCount;
  private final SteadyClock clock;
  private long handle = NOT_OPEN;
  private boolean closed;

  /**
   * Opens no core yet; {@link #setSettings} comes before {@link #reopen}.
   *
   * @param clock the source of every {@code nowMs}
   */
  CoreHandle(boolean virtualCoresCount, SteadyClock clock) {
    this.virtualCoresCount = virtualCoresCount;
    this.clock = clock;
  }

  /**
   * Opens a core. One that is open is closed first: both would write the same files.
   *
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   * @throws CoreClosedException if this handle was closed meanwhile
   */
  void reopen() {
    closeCore(replaced(NOT_OPEN));
    long opened = Natives.open(settingsJson, virtualCoresCount);
    lock.writeLock().lock();
    try {
      if (!closed) {
        handle = opened;
        return;
      }
    } finally {
      lock.writeLock().unlock();
    }
    closeCore(opened);
    throw new CoreClosedException();
  }

  /** What a core is opened by from now on. */
  void setSettings(String settings) {
    settingsJson = settings;
  }

  /** The core goes on by what {@link #setSettings} has set. */
  void goOnBySettings() {
    tell(core -> Natives.goOnBy(core, settingsJson, virtualCoresCount, nowMs()));
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

  void nodeLabelled(int node, String label) {
    tell(core -> Natives.nodeLabelled(core, node, label, nowMs()));
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

  /**
   * @param standing one of the constants of {@link Natives}
   */
  void pending(int application, PendingAsks asks, int standing) {
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
                asks.getCountables(),
                asks.getLabel(),
                standing,
                nowMs()));
  }

  /**
   * The applications that a node is offered to; see {@link Natives#round}.
   *
   * @return the count of numbers, which may exceed the buffer's capacity; -1 for
   *     CapacityScheduler's own order
   */
  int round(
      int node,
      long freeMemoryMib,
      int freeVirtualCores,
      long[] freeCountables,
      int[] atUserLimit,
      int named,
      NumberBuffer result) {
    return call(
        core ->
            Natives.round(
                core,
                node,
                memoryBytes(freeMemoryMib),
                freeVirtualCores,
                freeCountables,
                atUserLimit,
                named,
                result.address(),
                result.capacity(),
                nowMs()));
  }

  /** CapacityScheduler skipped these applications; see {@link Natives#skipped}. */
  void skipped(int node, int[] applications) {
    tell(core -> Natives.skipped(core, node, applications, nowMs()));
  }

  /** Books a container that begins now; false when the core refuses. */
  boolean commit(CoreContainers.Booked container, boolean mayRefuse) {
    long nowMs = nowMs();
    return commit(container, mayRefuse, nowMs, nowMs);
  }

  /** Books a container that runs already. */
  void runs(CoreContainers.Booked container, long startedMs) {
    long nowMs = nowMs();
    // CapacityScheduler's time is ahead of ours when the machine's clock was set forward.
    commit(container, false, Math.min(startedMs, nowMs), nowMs);
  }

  private boolean commit(
      CoreContainers.Booked container, boolean mayRefuse, long startedMs, long nowMs) {
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

  /** The ids of the containers that are booked otherwise, as JSON; null for none. */
  String bookedOtherwise(int node, String runningJson) {
    return call(core -> Natives.bookedOtherwise(core, node, runningJson, nowMs()));
  }

  byte[] report(String node, int protocolVersion, byte[] body) {
    return call(core -> Natives.report(core, node, protocolVersion, body, nowMs()));
  }

  /**
   * Writes three numbers for each node to resize: its number, and the ratios of its memory and of
   * its virtual cores in thousandths.
   *
   * @return the count of nodes
   */
  int bookableChanges(NumberBuffer result) {
    return call(
        core -> Natives.bookableChanges(core, result.address(), result.capacity() / 3, nowMs()));
  }

  /**
   * @param queue the path of the container's leaf queue
   */
  boolean mayPreempt(int node, String queue) {
    return call(core -> Natives.mayPreempt(core, node, queue, nowMs()));
  }

  /** The queues' shares, as {@link Natives#queues} describes them. */
  void queues(String queuesJson) {
    tell(core -> Natives.queues(core, queuesJson, nowMs()));
  }

  /** Whether every node stays at its registered size from now on. */
  void forbidRaising(boolean forbidden) {
    tell(core -> Natives.forbidRaising(core, forbidden, nowMs()));
  }

  /**
   * Writes the memory in MiB and the virtual cores that an application may still take.
   *
   * @return false if its queue sets no limit beyond CapacityScheduler's
   */
  boolean headroom(int application, NumberBuffer result) {
    return call(
        core ->
            Natives.headroom(core, application, result.address(), result.capacity(), nowMs()) > 0);
  }

  /** These nodes, and no others, are being decommissioned gracefully. */
  void draining(int[] nodes) {
    tell(core -> Natives.draining(core, nodes, nowMs()));
  }

  /** What becomes of a container that CapacityScheduler preempts; see {@link Natives#preempted}. */
  void preempted(String recordJson) {
    tell(core -> Natives.preempted(core, recordJson, nowMs()));
  }

  /** The containers to preempt where memory is short, as JSON; null for none. */
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

  /**
   * Whether depository and journal work, as JSON; see {@link Natives#health}. Never waits: Hadoop's
   * metrics system asks, with a lock that a thread with the scheduler's lock may want.
   *
   * @return null while a core is being opened or closed
   */
  String health() {
    if (!lock.readLock().tryLock()) {
      return null;
    }
    try {
      return handle == NOT_OPEN ? null : Natives.health(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** See {@link Natives#answer}. */
  String answer(String question) {
    return call(core -> Natives.answer(core, question, nowMs()));
  }

  /** The core's state and counters, as JSON. */
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
      closed = true;
    } finally {
      lock.writeLock().unlock();
    }
    closeCore(replaced(NOT_OPEN));
  }

  private long replaced(long by) {
    lock.writeLock().lock();
    try {
      long former = handle;
      handle = by;
      return former;
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** A core that has failed may fail here again; it is gone all the same. */
  private static void closeCore(long core) {
    if (core != NOT_OPEN) {
      try {
        Natives.close(core);
      } catch (CoreException e) {
        LOG.error("Elastane's core failed while it was closed", e);
      }
    }
  }

  private <T, E extends Exception> T call(Call<T, E> call) throws E {
    lock.readLock().lock();
    try {
      if (handle == NOT_OPEN) {
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

  /** No core is open: the scheduler is stopping, or a new core is being opened. */
  static final class CoreClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    CoreClosedException() {
      super("the core is not open");
    }
  }
}
