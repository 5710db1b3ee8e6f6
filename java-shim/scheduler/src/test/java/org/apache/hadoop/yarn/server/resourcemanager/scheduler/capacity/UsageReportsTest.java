package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativesForTest;
import org.elastane.usage.ReportRefusedException;
import org.elastane.usage.UsageClient;
import org.elastane.usage.UsageForTest;
import org.elastane.usage.UsageServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Invalid reports through Hadoop's IPC, the check of the caller, and the core. */
class UsageReportsTest {
  private static final int VERSION = TestCluster.PROTOCOL_VERSION;
  private static final byte[] NOTHING = {};
  private static final int LARGEST_BODY_BYTES = 256 * 1024;
  private static final int TIMES = 3;

  @TempDir Path directory;

  private TestCluster cluster;
  private MockNM node;
  private MockNM foreign;
  private byte[] good;
  private UsageServer server;
  private UsageClient client;
  private LogCapturer log;

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start(TestCluster.enforcing(directory));
    node = cluster.register("127.0.0.1:1", 4096, 4);
    foreign = cluster.register("127.0.0.2:1", 4096, 4);
    good = NativesForTest.reportBody(4000, 4096L << 20);
    server = cluster.scheduler().link().activeServices().usageServer();
    Configuration conf = new YarnConfiguration();
    conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:" + server.address().getPort());
    client = new UsageClient(conf);
    log = LogCapturer.captureLogs(LoggerFactory.getLogger("org.elastane.usage.UsageService"));
  }

  @AfterEach
  void stop() {
    log.stopCapturing();
    client.close();
    cluster.close();
  }

  @Test
  void aReportForSomebodyElsesNodeIsRefused() throws Exception {
    assertRefused("FOREIGN_ADDRESS: ", foreign.getNodeId(), VERSION, good);
    assertEquals(0, cluster.coreStatus().get("refused_reports").asInt(), "the core never saw it");
    assertTheNodesOwnReportIsTaken();
  }

  @Test
  void aTruncatedReportIsRefused() throws Exception {
    byte[] truncated = Arrays.copyOf(good, good.length - 1);
    assertRefused("REFUSED_BODY: ", node.getNodeId(), VERSION, truncated);
    assertRefusedByCore();
    assertTheNodesOwnReportIsTaken();
    assertTrue(log.getOutput().contains("are accepted again"), log.getOutput());
  }

  @Test
  void anEmptyReportIsRefused() throws Exception {
    assertRefused("REFUSED_BODY: ", node.getNodeId(), VERSION, NOTHING);
    assertRefusedByCore();
    assertTheNodesOwnReportIsTaken();
  }

  @Test
  void aReportThatIsTooLargeIsRefused() throws Exception {
    byte[] large = Arrays.copyOf(good, LARGEST_BODY_BYTES + 1);
    assertRefused("TOO_LARGE: ", node.getNodeId(), VERSION, large);
    assertEquals(0, cluster.coreStatus().get("refused_reports").asInt(), "the core never saw it");
    assertTheNodesOwnReportIsTaken();
  }

  @Test
  void aReportOfAnUnknownVersionIsRefused() throws Exception {
    assertRefused("REFUSED_BODY: ", node.getNodeId(), VERSION + 1, good);
    assertRefusedByCore();
    assertTheNodesOwnReportIsTaken();
  }

  /** Each report is refused and counted, the refusal is logged once, and nothing else changes. */
  private void assertRefused(String reason, NodeId claimed, int version, byte[] body)
      throws Exception {
    for (int i = 0; i < TIMES; i++) {
      ReportRefusedException e =
          assertThrows(ReportRefusedException.class, () -> client.report(claimed, version, body));
      assertTrue(e.getMessage().startsWith(reason), e.getMessage());
    }
    assertEquals(TIMES, UsageForTest.refused(server));
    assertEquals(0, UsageForTest.reports(server));
    String said = log.getOutput();
    assertEquals(1, said.lines().filter(line -> line.contains("Refused a report")).count(), said);
    assertTrue(cluster.scheduler().link().guard().inService());
    assertEquals(0, cluster.metrics().coreFailureCount());
    for (int i = 0; i < 2; i++) {
      assertTrue(cluster.coreStatus().at("/nodes/" + i + "/report_age_ms").isNull());
    }
  }

  private void assertRefusedByCore() throws IOException {
    assertEquals(TIMES, cluster.coreStatus().get("refused_reports").asInt());
  }

  private void assertTheNodesOwnReportIsTaken() throws Exception {
    assertTrue(client.report(node.getNodeId(), VERSION, good).body().length > 0);

    assertEquals(1, UsageForTest.reports(server));
    assertEquals(1, cluster.coreStatus().get("reports").asInt());
    for (JsonNode known : cluster.coreStatus().get("nodes")) {
      boolean isOwn = known.get("node").asText().equals(node.getNodeId().toString());
      assertEquals(isOwn, !known.get("report_age_ms").isNull());
    }
  }
}
