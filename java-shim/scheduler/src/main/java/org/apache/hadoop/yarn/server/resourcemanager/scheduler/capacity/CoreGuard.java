package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs all of Elastane's work inside the ResourceManager and catches what it throws, which would
 * otherwise end the ResourceManager.
 *
 * <p>An {@link IllegalArgumentException} rejects one call and is counted. What else is thrown costs
 * the part that the work belongs to. Work that changes the core, or tells the core of a change,
 * belongs to the core: its state may be half changed or lack the change, so the core goes out of
 * service until a new one is opened ({@link CoreRecovery}). Meanwhile no such work is run, and
 * {@link #inService()} tells the scheduler to go on as CapacityScheduler.
 */
final class CoreGuard {
  private static final Logger LOG = LoggerFactory.getLogger(CoreGuard.class);

  private final ElastaneMetrics metrics;
  private final Set<String> refusalsLogged = ConcurrentHashMap.newKeySet();
  private final Set<String> failuresLogged = ConcurrentHashMap.newKeySet();

  /** Read-locked while work is under way, so that a new core gets none that an old one began. */
  private final ReentrantReadWriteLock underWay = new ReentrantReadWriteLock();

  private volatile boolean inService = true;
  private volatile int coreNumber;
  private volatile Runnable onFailure = () -> {};

  CoreGuard(ElastaneMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * @param listener called each time the core goes out of service, on the thread that found out
   */
  void onFailure(Runnable listener) {
    onFailure = listener;
  }

  boolean inService() {
    return inService;
  }

  /** Which core this is, of those that were in service one after the other. */
  int coreNumber() {
    return coreNumber;
  }

  /** Runs the work while the core is in service. */
  void run(String task, Runnable work) {
    supply(
        task,
        null,
        () -> {
          work.run();
          return null;
        });
  }

  /** The work's result; {@code otherwise} if it failed or the core is out of service. */
  <T> T supply(String task, T otherwise, Supplier<T> work) {
    // Fails only for the moment in which awaitIdle() has the lock, when no core is in service.
    if (!inService || !underWay.readLock().tryLock()) {
      return otherwise;
    }
    try {
      return inService ? work.get() : otherwise;
    } catch (CoreHandle.CoreClosedException e) {
      return otherwise;
    } catch (IllegalArgumentException e) {
      refused(task, e);
      return otherwise;
    } catch (NodeResizeException e) {
      nodeNotResized();
      return otherwise;
    } catch (Throwable t) {
      takeOutOfService(task, t);
      return otherwise;
    } finally {
      underWay.readLock().unlock();
    }
  }

  /**
   * The result of a part's work, which reads the core or changes nothing but the part's own state;
   * {@code otherwise} if the work failed, is not to be tried again yet, or the core is out of
   * service.
   */
  <T> T part(Part part, T otherwise, Supplier<T> work) {
    if (!inService || part.waitMs() > 0) {
      return otherwise;
    }
    try {
      T result = work.get();
      part.succeeded();
      return result;
    } catch (CoreHandle.CoreClosedException e) {
      return otherwise;
    } catch (Throwable t) {
      part.failed(t);
      return otherwise;
    }
  }

  /** Runs a part's work. */
  void part(Part part, Runnable work) {
    part(
        part,
        null,
        () -> {
          work.run();
          return null;
        });
  }

  /** The result of work that needs no core; {@code otherwise} if it failed. */
  <T> T always(String task, T otherwise, Supplier<T> work) {
    try {
      return work.get();
    } catch (NodeResizeException e) {
      nodeNotResized();
      return otherwise;
    } catch (Throwable t) {
      metrics.partFailed();
      if (failuresLogged.add(task)) {
        LOG.error("Elastane failed at '{}' (further failures are only counted)", task, t);
      }
      return otherwise;
    }
  }

  /** Runs work that needs no core. */
  void always(String task, Runnable work) {
    always(
        task,
        null,
        () -> {
          work.run();
          return null;
        });
  }

  /** Takes the core out of service; logs the first cause only. */
  void takeOutOfService(String task, Throwable cause) {
    metrics.coreFailed();
    synchronized (this) {
      if (!inService) {
        return;
      }
      inService = false;
    }
    LOG.error(
        "Elastane's core failed at '{}' and is out of service: every node returns to its registered"
            + " size and CapacityScheduler decides alone",
        task,
        cause);
    onFailure.run();
  }

  /** There is no core yet, and no failure. */
  synchronized void beginOutOfService() {
    inService = false;
  }

  /** Waits for the work that began while the core was in service. The caller holds no lock. */
  void awaitIdle() {
    underWay.writeLock().lock();
    try {
      LOG.debug("No work of the former core is under way");
    } finally {
      underWay.writeLock().unlock();
    }
  }

  /** Another core, which has been told everything, is in service from now on. */
  synchronized void putInService() {
    coreNumber++;
    inService = true;
  }

  /** BookableCapacity has logged the node and tries again. */
  private void nodeNotResized() {
    metrics.partFailed();
  }

  private void refused(String task, IllegalArgumentException cause) {
    metrics.callRefused();
    if (refusalsLogged.add(task)) {
      LOG.warn("Elastane's core refused '{}' (further ones are only counted)", task, cause);
    }
  }
}
