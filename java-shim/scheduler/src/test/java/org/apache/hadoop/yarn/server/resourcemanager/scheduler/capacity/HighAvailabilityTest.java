package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.AdminService;
import org.elastane.Await;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An administrator makes a ResourceManager active and standby. */
class HighAvailabilityTest {
  private static final StateChangeRequestInfo BY_ADMINISTRATOR =
      new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER);

  @TempDir Path directory;

  @Test
  void eachTimeItStandsByItHasOneCoreAgainAndNothingOfTheFormerOne() throws Exception {
    Path copy = directory.resolve("shared/rm1.sqlite");
    try (TestCluster cluster = TestCluster.start(oneOfTwo())) {
      List<String> standingBy = steadyThreads();
      assertTrue(standingBy.contains("elastane-learne"), standingBy.toString());
      for (int i = 0; i < 3; i++) {
        CoreLink link = cluster.scheduler().link();
        assertNull(link.activeServices().usageServer(), "a standby takes no reports");
        administration(cluster).transitionToActive(BY_ADMINISTRATOR);
        assertNotNull(link.activeServices().usageServer().address());
        Await.until("a copy", () -> Files.exists(copy));
        assertEquals(0, link.metrics().sharingFailureCount());

        administration(cluster).transitionToStandby(BY_ADMINISTRATOR);
        assertThrows(CoreHandle.CoreClosedException.class, link.core()::status);
        Await.until("the threads of a standby", () -> ourThreads().equals(standingBy));
        assertTrue(cluster.scheduler().link().guard().inService(), "the next core");
        Files.delete(copy);
      }
      // Hadoop stops the services of an active ResourceManager only.
      administration(cluster).transitionToActive(BY_ADMINISTRATOR);
    }
    Await.until("no thread of ours", () -> ourThreads().isEmpty());
  }

  @Test
  void oneWhosePortIsTakenIsActiveWithoutReportsUntilThePortIsFree() throws Exception {
    Configuration conf = oneOfTwo();
    ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:" + taken.getLocalPort());
    try (TestCluster cluster = TestCluster.start(conf)) {
      List<String> standingBy = steadyThreads();
      administration(cluster).transitionToActive(BY_ADMINISTRATOR);
      CoreLink link = cluster.scheduler().link();
      assertEquals(Collections.singletonList("reports"), link.parts().outOfService());
      administration(cluster).transitionToStandby(BY_ADMINISTRATOR);
      Await.until("the threads of a standby", () -> ourThreads().equals(standingBy));

      administration(cluster).transitionToActive(BY_ADMINISTRATOR);
      taken.close();
      CoreLink next = cluster.scheduler().link();
      Await.until("the port is open", () -> next.parts().outOfService().isEmpty());
      assertNotNull(next.activeServices().usageServer().address());
    } finally {
      taken.close();
    }
  }

  private static AdminService administration(TestCluster cluster) {
    return cluster.resourceManager().getRMContext().getRMAdminService();
  }

  private Configuration oneOfTwo() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.RM_HA_ENABLED, true);
    conf.setBoolean(YarnConfiguration.AUTO_FAILOVER_ENABLED, false);
    conf.set(YarnConfiguration.RM_HA_IDS, "rm1,rm2");
    conf.set(YarnConfiguration.RM_HA_ID, "rm1");
    conf.set(YarnConfiguration.RM_HOSTNAME + ".rm1", "127.0.0.1");
    conf.set(YarnConfiguration.RM_HOSTNAME + ".rm2", "127.0.0.2");
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, directory.resolve("shared").toString());
    return conf;
  }

  /** Waits for started threads to set their names and for ended ones to disappear. */
  private static List<String> steadyThreads() throws InterruptedException {
    List<String> seen;
    List<String> now = ourThreads();
    do {
      seen = now;
      Thread.sleep(500);
      now = ourThreads();
    } while (!now.equals(seen));
    return now;
  }

  /** The kernel's names of Elastane's threads in this process, including the core's. */
  private static List<String> ourThreads() {
    List<String> names = new ArrayList<>();
    for (File thread : new File("/proc/self/task").listFiles()) {
      try {
        String name = Files.readString(thread.toPath().resolve("comm")).trim();
        if (name.startsWith("elastane-")) {
          names.add(name);
        }
      } catch (IOException e) {
        // the thread has ended
      }
    }
    Collections.sort(names);
    return names;
  }
}
