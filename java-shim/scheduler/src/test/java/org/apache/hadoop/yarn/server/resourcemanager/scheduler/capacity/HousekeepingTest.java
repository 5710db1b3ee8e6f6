package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.elastane.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A heartbeat does not wait for work that visits all nodes. */
class HousekeepingTest {
  private final ElastaneMetrics metrics = new ElastaneMetrics();
  private final CoreGuard guard = new CoreGuard(metrics);
  private final AtomicLong nowMs = new AtomicLong(5);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final Semaphore mayEnd = new Semaphore(0);
  private volatile Thread worker;
  private final Housekeeping housekeeping = new Housekeeping(guard, this::work, nowMs::get);

  private void work() {
    worker = Thread.currentThread();
    begun.incrementAndGet();
    try {
      assertTrue(mayEnd.tryAcquire(20, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    ended.incrementAndGet();
    throw new IllegalStateException("asked for by a test");
  }

  @AfterEach
  void close() {
    mayEnd.release(9);
    housekeeping.close();
  }

  @Test
  void theWorkIsDoneOnAThreadOfItsOwnOnceASecondAndNeverTwiceAtOnce() throws Exception {
    housekeeping.heartbeat();
    Await.until("it has begun", () -> begun.get() == 1);
    assertNotEquals(Thread.currentThread(), worker);
    assertEquals(0, ended.get(), "the heartbeat has not waited");

    for (int i = 0; i < 5; i++) {
      nowMs.addAndGet(Housekeeping.INTERVAL_MS);
      housekeeping.heartbeat();
    }
    mayEnd.release();
    Await.until("it has ended", () -> ended.get() == 1);
    Await.until(
        "it goes on after a failure, at once where it is overdue",
        () -> {
          housekeeping.heartbeat();
          return begun.get() == 2;
        });
    mayEnd.release();
    Await.until("it has ended again", () -> ended.get() == 2);

    nowMs.addAndGet(Housekeeping.INTERVAL_MS - 1);
    mayEnd.release();
    for (int i = 0; i < 100; i++) {
      housekeeping.heartbeat();
    }
    nowMs.incrementAndGet();
    Await.until(
        "it is due again",
        () -> {
          housekeeping.heartbeat();
          return ended.get() == 3;
        });
    assertEquals(3, begun.get());
  }

  @Test
  void itsThreadEndsWithTheScheduler() throws Exception {
    housekeeping.heartbeat();
    Await.until("it has begun", () -> begun.get() == 1);

    Thread closing = new Thread(housekeeping::close);
    closing.start();
    Await.until("it waits", () -> closing.getState() == Thread.State.TIMED_WAITING);
    assertTrue(worker.isAlive(), "what is under way is not cut off");
    assertEquals(0, ended.get());
    mayEnd.release();

    closing.join(TimeUnit.SECONDS.toMillis(20));
    assertFalse(closing.isAlive());
    assertEquals(1, ended.get());
    Await.until("the thread has ended", () -> !worker.isAlive());
    nowMs.addAndGet(10 * Housekeeping.INTERVAL_MS);
    housekeeping.heartbeat();
    assertFalse(worker.isAlive());
    assertEquals(1, begun.get());
  }

  @Test
  void aHeartbeatThatComesWhileTheSchedulerStopsIsNoFailure() {
    housekeeping.close();
    // Due even then, as for a heartbeat that found the work due just before.
    nowMs.set(Long.MAX_VALUE);
    housekeeping.heartbeat();

    assertEquals(0, begun.get());
    assertEquals(0, metrics.partFailureCount());
  }
}
