package org.elastane.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.Await;
import org.elastane.retry.Backoff;
import org.elastane.usage.UsageClient;
import org.elastane.usage.UsageServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The loop with a real usage server, and an agent that stops and starts. */
class ReportLoopTest {
  private static final Logger LOG = LoggerFactory.getLogger(ReportLoopTest.class);

  private final Configuration conf = new YarnConfiguration();
  private final AtomicInteger received = new AtomicInteger();
  private final FakeNode node = new FakeNode();
  private final FakeAgent agent = new FakeAgent();
  private LogCapturer output;
  private UsageServer server;
  private UsageClient client;
  private Thread thread;

  @BeforeEach
  void start() throws IOException {
    output = LogCapturer.captureLogs(LOG);
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:0");
    startServer();
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:" + server.address().getPort());
    client = new UsageClient(conf);
    thread =
        new Thread(
            new ReportLoop(
                node,
                new AgentLink(node, agent, new Outage(LOG, "the agent")),
                client::report,
                new Outage(LOG, "the ResourceManager"),
                new Backoff(20, 100),
                50));
  }

  @AfterEach
  void stop() throws InterruptedException {
    thread.interrupt();
    thread.join(10_000);
    client.close();
    server.stop();
    output.stopCapturing();
  }

  @Test
  void reportsGoUpAndRepliesComeBackToTheAgent() throws InterruptedException {
    node.run("container_1", 17);
    thread.start();
    Await.until("three reports arrive", () -> received.get() >= 3);
    Await.until("a reply is applied", () -> agent.applied() != null);
    assertArrayEquals(new byte[] {7}, agent.applied());
    assertEquals(
        "[{\"container\":\"container_1\",\"pid\":17,\"memory_bytes\":1073741824}]",
        agent.containers());
    assertEquals("", output.getOutput());
  }

  @Test
  void nothingIsSentBeforeTheNodeHasRegistered() throws InterruptedException {
    node.register(false);
    thread.start();
    Await.until("the loop runs", () -> thread.getState() == Thread.State.TIMED_WAITING);
    assertEquals(0, agent.reports());
    assertNull(agent.applied());

    node.register(true);
    Await.until("a report arrives", () -> received.get() >= 1);
  }

  @Test
  void aResourceManagerThatWasAwayIsFoundAgainAndSaidOnceEach()
      throws InterruptedException, IOException {
    thread.start();
    Await.until("a report arrives", () -> received.get() >= 1);
    server.stop();
    int asked = agent.reports();
    Await.until("it tries again and again", () -> agent.reports() >= asked + 4);
    int before = received.get();
    startServer();
    Await.until("reports arrive again", () -> received.get() > before);
    Await.until("the return is said", () -> output.getOutput().contains("Reached"));
    assertSaidOnceEach("the ResourceManager");
  }

  @Test
  void anAgentThatWasAwayIsFoundAgainAndSaidOnceEach() throws InterruptedException {
    thread.start();
    Await.until("a report arrives", () -> received.get() >= 1);
    agent.goAway();
    Await.until("the loss is said", () -> output.getOutput().contains("Lost the agent"));
    int before = received.get();
    agent.comeBack();
    Await.until("reports arrive again", () -> received.get() > before);
    assertSaidOnceEach("the agent");
  }

  @Test
  void aFaultOfHadoopOrTheLibraryEndsNothingAndIsSaidOnceForEachKind() throws InterruptedException {
    LogCapturer faults = LogCapturer.captureLogs(LoggerFactory.getLogger(FaultLog.class));
    try {
      thread.start();
      Await.until("a report arrives", () -> received.get() >= 1);
      node.fail(new NullPointerException("a fault of Hadoop"));
      int looked = node.looks();
      Await.until("it tries again and again", () -> node.looks() >= looked + 4);
      agent.fail(new IllegalArgumentException("a fault of the library"));
      node.fail(null);
      Await.until("that is said too", () -> faults.getOutput().contains("a fault of the library"));
      int before = received.get();
      agent.fail(null);
      Await.until("reports arrive again", () -> received.get() > before);
    } finally {
      faults.stopCapturing();
    }
    String said = faults.getOutput();
    assertEquals(2, said.lines().filter(line -> line.contains("; will retry")).count(), said);
    assertEquals("", output.getOutput(), "neither side was away");
  }

  private void assertSaidOnceEach(String other) {
    String said = output.getOutput();
    assertEquals(2, said.lines().count(), said);
    assertEquals(1, said.lines().filter(line -> line.contains("Lost " + other)).count(), said);
    assertEquals(1, said.lines().filter(line -> line.contains("Reached " + other)).count(), said);
  }

  private void startServer() throws IOException {
    server =
        new UsageServer(
            conf,
            FakeNode.NAME::equals,
            (name, version, body) -> {
              received.incrementAndGet();
              return new byte[] {7};
            });
    server.start();
  }
}
