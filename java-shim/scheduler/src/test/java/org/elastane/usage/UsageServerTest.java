package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.net.StandardSocketFactory;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A real server and real clients on loopback, where each 127.x.x.x is a separate address. */
class UsageServerTest {
  private static final NodeId NODE = NodeId.newInstance("127.0.0.1", 45454);
  private static final int VERSION = 1;
  private static final byte[] BODY = {1, 2, 3};

  private final Configuration conf = new YarnConfiguration();
  private final Map<NodeId, byte[]> received = new ConcurrentHashMap<>();
  private ReportHandler handler = this::echo;
  private UsageServer server;

  @BeforeEach
  void start() throws IOException {
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:0");
    server = new UsageServer(conf, NODE::equals, (n, v, b) -> handler.report(n, v, b));
    server.start();
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.1:" + server.address().getPort());
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  @Test
  void aReportOfTheNodeItselfIsTakenAndAnsweredInItsVersion() throws IOException {
    UsageReply reply = reportFrom("127.0.0.1", NODE, BODY);

    assertArrayEquals(BODY, received.get(NODE));
    assertEquals(VERSION, reply.version());
    assertArrayEquals(new byte[] {3, 2, 1}, reply.body());
    assertCounted(1, 0);
  }

  @Test
  void aReportFromAnotherAddressIsRefusedAndTheNodesOwnIsStillTaken() throws IOException {
    assertRefused(RefusalReason.FOREIGN_ADDRESS, "127.0.0.2", NODE, BODY);
    assertTrue(received.isEmpty());

    reportFrom("127.0.0.1", NODE, BODY);
    assertCounted(1, 1);
  }

  @Test
  void aNodeThatHasNotRegisteredIsRefused() {
    NodeId unknown = NodeId.newInstance("127.0.0.1", 1);
    assertRefused(RefusalReason.UNKNOWN_NODE, "127.0.0.1", unknown, BODY);
    assertTrue(received.isEmpty());
  }

  @Test
  void theLargestBodyIsTakenAndOneByteMoreIsRefused() throws IOException {
    int most = UsageProtocol.MAX_BODY_BYTES;
    reportFrom("127.0.0.1", NODE, new byte[most]);
    assertEquals(most, received.get(NODE).length);

    assertRefused(RefusalReason.TOO_LARGE, "127.0.0.1", NODE, new byte[most + 1]);
    assertEquals(most, received.get(NODE).length);
  }

  @Test
  void aMessageFarTooLargeEndsTheConnectionOnlyOfItsSender() throws IOException {
    byte[] huge = new byte[8 * UsageProtocol.MAX_BODY_BYTES];
    IOException e = assertThrows(IOException.class, () -> reportFrom("127.0.0.1", NODE, huge));
    assertFalse(e instanceof ReportRefusedException, "it is not even read: " + e);
    assertTrue(received.isEmpty());

    reportFrom("127.0.0.1", NODE, BODY);
    assertArrayEquals(BODY, received.get(NODE));
  }

  @Test
  void aNodeThatFloodsIsRefusedAndSoonHeardAgain() throws Exception {
    try (UsageClient client = new UsageClient(conf)) {
      Await.until("a report too many", () -> isRefused(client));
      Await.until("a report is taken again", () -> !isRefused(client));
    }
  }

  private static boolean isRefused(UsageClient client) {
    try {
      client.report(NODE, VERSION, BODY);
      return false;
    } catch (ReportRefusedException e) {
      assertTrue(e.getMessage().startsWith("TOO_MANY: "), e.getMessage());
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatTheCoreRefusesReachesTheNodeWithTheReason() {
    handler =
        (node, version, body) -> {
          throw new IllegalArgumentException("protocol version 9, this side speaks 1");
        };
    ReportRefusedException e = assertRefused(RefusalReason.REFUSED_BODY, "127.0.0.1", NODE, BODY);
    assertEquals(
        "REFUSED_BODY: protocol version 9, this side speaks 1",
        e.getMessage().lines().findFirst().orElseThrow());
  }

  @Test
  void aCoreOutOfServiceIsAnswered() throws IOException {
    handler =
        (node, version, body) -> {
          throw new IOException("the core is out of service");
        };
    assertRefused(RefusalReason.OUT_OF_SERVICE, "127.0.0.1", NODE, BODY);

    handler = this::echo;
    reportFrom("127.0.0.1", NODE, BODY);
  }

  @Test
  void manyRefusalsAreCountedAndSaidOnceWithoutAStackTrace() {
    LogCapturer ours = LogCapturer.captureLogs(LoggerFactory.getLogger(UsageService.class));
    LogCapturer hadoops =
        LogCapturer.captureLogs(LoggerFactory.getLogger("org.apache.hadoop.ipc.Server"));
    try {
      for (int i = 0; i < 20; i++) {
        assertRefused(RefusalReason.FOREIGN_ADDRESS, "127.0.0.2", NODE, BODY);
      }
    } finally {
      ours.stopCapturing();
      hadoops.stopCapturing();
    }
    assertCounted(0, 20);
    assertEquals(
        List.of(1L, 0L),
        List.of(
            ours.getOutput().lines().count(),
            hadoops.getOutput().lines().filter(line -> line.contains("Refused")).count()));
  }

  @Test
  void aServerStartedAnewIsFoundByTheSameClientAndCountsFromZero() throws IOException {
    try (UsageClient client = new UsageClient(conf)) {
      client.report(NODE, VERSION, BODY);
      server.stop();
      assertThrows(IOException.class, () -> client.report(NODE, VERSION, BODY));

      server = new UsageServer(conf, NODE::equals, this::echo);
      server.start();
      client.report(NODE, VERSION, BODY);
    }
    assertCounted(1, 0);
  }

  @Test
  void theActiveOneOfTwoResourceManagersIsFound() throws IOException {
    int port = server.address().getPort();
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
    conf.set("yarn.scheduler.elastane.usage.address.rm1", "127.0.0.3:" + port);
    conf.set("yarn.scheduler.elastane.usage.address.rm2", "127.0.0.1:" + port);

    reportFrom("127.0.0.1", NODE, BODY);

    assertArrayEquals(BODY, received.get(NODE));
  }

  @Test
  void aRefusalIsTheAnswerAndNoOtherResourceManagerIsAsked() {
    int port = server.address().getPort();
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
    conf.set("yarn.scheduler.elastane.usage.address.rm1", "127.0.0.1:" + port);
    conf.set("yarn.scheduler.elastane.usage.address.rm2", "127.0.0.3:" + port);

    assertRefused(RefusalReason.FOREIGN_ADDRESS, "127.0.0.2", NODE, BODY);
  }

  @Test
  void theFailureOfTheActiveOneIsToldAndNotThatOfAStandby() {
    int port = server.address().getPort();
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
    conf.set("yarn.scheduler.elastane.usage.address.rm1", "127.0.0.1:" + port);
    conf.set("yarn.scheduler.elastane.usage.address.rm2", "127.0.0.3:" + port);

    byte[] huge = new byte[8 * UsageProtocol.MAX_BODY_BYTES];
    IOException e = assertThrows(IOException.class, () -> reportFrom("127.0.0.1", NODE, huge));
    assertFalse(e instanceof ConnectException, e.toString());
  }

  @Test
  void aPortThatSomebodyElseHasIsNamed() {
    UsageServer second = new UsageServer(conf, NODE::equals, this::echo);
    IOException e = assertThrows(IOException.class, second::start);
    assertTrue(e.getMessage().contains(":" + server.address().getPort()), e.getMessage());
  }

  @Test
  void theCountersAreOnJmx() throws IOException, InterruptedException {
    DefaultMetricsSystem.initialize("UsageServerTest");
    try {
      server.stop();
      server = new UsageServer(conf, NODE::equals, this::echo);
      server.start();
      reportFrom("127.0.0.1", NODE, BODY);
      Await.until("the report is counted on JMX", () -> Long.valueOf(1).equals(reportsOnJmx()));
    } finally {
      DefaultMetricsSystem.shutdown();
    }
  }

  private static Object reportsOnJmx() {
    try {
      return ManagementFactory.getPlatformMBeanServer()
          .getAttribute(
              new ObjectName("Hadoop:service=UsageServerTest,name=ElastaneUsage"), "Reports");
    } catch (JMException e) {
      throw new IllegalStateException("ElastaneUsage is not on JMX", e);
    }
  }

  private byte[] echo(NodeId node, int version, byte[] body) {
    received.put(node, body);
    return new byte[] {3, 2, 1};
  }

  private UsageReply reportFrom(String address, NodeId node, byte[] body) throws IOException {
    StandardSocketFactory sockets = new BoundSocketFactory(address);
    try (UsageClient client = new UsageClient(conf, sockets, UserGroupInformation::getLoginUser)) {
      return client.report(node, VERSION, body);
    }
  }

  private ReportRefusedException assertRefused(
      RefusalReason reason, String address, NodeId node, byte[] body) {
    ReportRefusedException e =
        assertThrows(ReportRefusedException.class, () -> reportFrom(address, node, body));
    assertTrue(e.getMessage().startsWith(reason + ": "), e.getMessage());
    return e;
  }

  private void assertCounted(long reports, long refused) {
    assertEquals(reports, server.metrics().reports.value());
    assertEquals(refused, server.metrics().refused.value());
  }
}
