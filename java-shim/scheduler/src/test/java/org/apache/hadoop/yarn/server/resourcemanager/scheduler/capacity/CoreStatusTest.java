package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import javax.management.ObjectName;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.util.ControlledClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status that an administrator reads at /jmx. */
class CoreStatusTest {
  private static final String BEAN = "Hadoop:service=ResourceManager,name=ElastaneStatus";

  @TempDir Path directory;

  @Test
  void anApplicationThatWaitsIsThereWithItsReason() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 2);
      cluster.foresee(master, 1, 1, 3584);
      cluster.heartbeat(node);

      JsonNode waiting = status().get("waiting").get(0);

      assertEquals(
          master.getApplicationAttemptId().getApplicationId().toString(),
          waiting.get("application").asText());
      assertEquals(2, waiting.get("containers").asInt());
      String reason = waiting.get("reason").asText();
      assertTrue(reason.contains("memory demand exceeds what is available"), reason);
    }
    assertFalse(
        ManagementFactory.getPlatformMBeanServer().isRegistered(new ObjectName(BEAN)),
        "it goes with the scheduler");
  }

  @Test
  void theCoreIsAskedAtMostOnceASecond() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      CoreLink link = cluster.scheduler().link();
      ControlledClock clock = new ControlledClock();
      CoreStatus status = new CoreStatus(link.guard(), link.parts().status, link.core(), clock);
      link.recovery().setWaitsForTest();
      String before = status.getStatus();
      cluster.register("127.0.0.1:1", 4096, 4);

      clock.tickMsec(999);
      assertSame(before, status.getStatus());
      clock.tickMsec(1);
      assertTrue(status.getStatus().contains("127.0.0.1:1"), "it is there a second later");

      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
      assertEquals("{}", status.getStatus(), "at once");
    }
  }

  private static JsonNode status() throws Exception {
    Object status =
        ManagementFactory.getPlatformMBeanServer().getAttribute(new ObjectName(BEAN), "Status");
    return new ObjectMapper().readTree((String) status);
  }
}
