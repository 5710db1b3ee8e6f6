package org.elastane.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.elastane.Await;
import org.elastane.retry.Backoff;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class ContainerWatchTest {
  private static final Logger LOG = LoggerFactory.getLogger(ContainerWatchTest.class);
  private static final String ONE =
      "[{\"container\":\"container_1\",\"pid\":17,\"memory_bytes\":1073741824}]";

  private final FakeNode node = new FakeNode();
  private final FakeAgent agent = new FakeAgent();
  private final ChangeSignal changes = new ChangeSignal();
  private Thread thread;

  @BeforeEach
  void start() throws InterruptedException {
    AgentLink link = new AgentLink(node, agent, new Outage(LOG, "the agent"));
    thread = new Thread(new ContainerWatch(link, changes, new Backoff(20, 100)));
    thread.start();
    Await.until("the agent is told that nothing runs", () -> "[]".equals(agent.containers()));
  }

  @AfterEach
  void stop() throws InterruptedException {
    thread.interrupt();
    thread.join(TimeUnit.SECONDS.toMillis(10));
    assertTrue(!thread.isAlive(), "an interrupt ends the thread");
  }

  @Test
  void aChangeIsToldAtOnceAndOnce() throws InterruptedException {
    node.run("container_1", 17);
    long begunNs = System.nanoTime();
    changes.raise();
    Await.until("the container is told", () -> ONE.equals(agent.containers()));
    assertWithin(300, begunNs);

    node.end("container_1");
    changes.raise();
    Await.until("its end is told", () -> "[]".equals(agent.containers()));
    assertEquals(3, agent.tells(), "nothing, one, nothing");
  }

  @Test
  void aPidThatComesLaterIsToldSoon() throws InterruptedException {
    node.awaitPid(true);
    changes.raise();
    int before = node.looks();
    Await.until("it looks again and again", () -> node.looks() >= before + 3);
    node.run("container_1", 17);
    node.awaitPid(false);
    long begunNs = System.nanoTime();
    Await.until("the pid is told", () -> ONE.equals(agent.containers()));
    assertWithin(300, begunNs);
  }

  @Test
  void anAgentThatWasAwayIsToldEverythingAndItIsSaidOnceEach() throws InterruptedException {
    LogCapturer output = LogCapturer.captureLogs(LOG);
    try {
      agent.goAway();
      node.run("container_1", 17);
      changes.raise();
      Await.until("the loss is said", () -> output.getOutput().contains("Lost the agent"));
      agent.comeBack();
      Await.until("the agent is told", () -> ONE.equals(agent.containers()));
      Await.until("the return is said", () -> output.getOutput().contains("Reached the agent"));
    } finally {
      output.stopCapturing();
    }
    assertEquals(2, output.getOutput().lines().count(), output.getOutput());
  }

  @Test
  void anAgentThatWasAwayIsToldAgainWhatItWasToldBefore() throws InterruptedException {
    LogCapturer output = LogCapturer.captureLogs(LOG);
    try {
      agent.goAway();
      node.run("container_1", 17);
      changes.raise();
      Await.until("the loss is said", () -> output.getOutput().contains("Lost the agent"));
    } finally {
      output.stopCapturing();
    }
    node.end("container_1");
    agent.comeBack();
    Await.until("it is told once more", () -> "[]".equals(agent.containers()));
  }

  @Test
  void aFaultOfHadoopEndsNothingAndIsSaidOnce() throws InterruptedException {
    LogCapturer faults = LogCapturer.captureLogs(LoggerFactory.getLogger(FaultLog.class));
    try {
      node.fail(new NullPointerException("a fault of Hadoop"));
      int looked = node.looks();
      changes.raise();
      Await.until("it tries again and again", () -> node.looks() >= looked + 4);
      node.run("container_1", 17);
      node.fail(null);
      Await.until("the agent is told", () -> ONE.equals(agent.containers()));
    } finally {
      faults.stopCapturing();
    }
    String said = faults.getOutput();
    assertEquals(1, said.lines().filter(line -> line.contains("; will retry")).count(), said);
  }

  @Test
  void anAgentThatMayHaveMissedAListIsToldAgainWhatItWasToldBefore() throws InterruptedException {
    LogCapturer faults = LogCapturer.captureLogs(LoggerFactory.getLogger(FaultLog.class));
    try {
      agent.fail(new IllegalArgumentException("a fault of the library"));
      node.run("container_1", 17);
      changes.raise();
      Await.until("the fault is said", () -> faults.getOutput().contains("of the library"));
    } finally {
      faults.stopCapturing();
    }
    int before = agent.tells();
    node.end("container_1");
    agent.fail(null);
    Await.until("it is told once more", () -> agent.tells() > before);
    assertEquals("[]", agent.containers());
  }

  private static void assertWithin(long boundMs, long begunNs) {
    long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNs);
    assertTrue(tookMs <= boundMs, tookMs + " ms, at most " + boundMs + " are promised");
  }
}
