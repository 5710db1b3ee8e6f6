package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs all of Elastane's work inside the ResourceManager and catches what it throws, which would
 * otherwise end the ResourceManager.
 *
 * <p>An {@link IllegalArgumentException} rejects one call and is counted. Any other exception takes
 * the core out of service for good: no more work is run, and {@link #inService()} tells the
 * scheduler to go on as CapacityScheduler.
 */
final class CoreGuard {
  private static final Logger LOG = LoggerFactory.getLogger(CoreGuard.class);

  private final ElastaneMetrics metrics;
  private final AtomicBoolean inService = new AtomicBoolean(true);
  private final Set<String> refusalsLogged = ConcurrentHashMap.newKeySet();

  CoreGuard(ElastaneMetrics metrics) {
    this.metrics = metrics;
  }

  boolean inService() {
    return inService.get();
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
    return inService.get() ? always(task, otherwise, work) : otherwise;
  }

  /** As {@link #supply}, also while the core is out of service: for work that needs no core. */
  <T> T always(String task, T otherwise, Supplier<T> work) {
    try {
      return work.get();
    } catch (CoreHandle.CoreClosedException e) {
      return otherwise;
    } catch (IllegalArgumentException e) {
      refused(task, e);
      return otherwise;
    } catch (Throwable t) {
      takeOutOfService(task, t);
      return otherwise;
    }
  }

  /** Takes the core out of service; logs the first cause only. */
  void takeOutOfService(String task, Throwable cause) {
    metrics.coreFailed();
    if (inService.compareAndSet(true, false)) {
      LOG.error(
          "Elastane's core failed at '{}' and is out of service until the ResourceManager"
              + " restarts; every node returns to its registered size and CapacityScheduler decides"
              + " alone",
          task,
          cause);
    }
  }

  private void refused(String task, IllegalArgumentException cause) {
    metrics.callRefused();
    if (refusalsLogged.add(task)) {
      LOG.warn("Elastane's core refused '{}' (further ones are only counted)", task, cause);
    }
  }
}
