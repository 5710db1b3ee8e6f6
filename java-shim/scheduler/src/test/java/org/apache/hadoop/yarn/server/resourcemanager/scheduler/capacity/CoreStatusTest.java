package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.util.ControlledClock;
import org.elastane.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core's status, which page, REST and metrics show. */
class CoreStatusTest {
  @TempDir Path directory;

  @Test
  void anApplicationThatWaitsIsThereWithItsReasonAndCounted() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 2);
      cluster.foresee(master, 1, 1, 3584);
      cluster.heartbeat(node);

      CoreStatus status = cluster.scheduler().link().status();
      Await.until("a status with it", () -> status.snapshot().get("waiting").size() == 1);
      JsonNode waiting = status.snapshot().get("waiting").get(0);

      String application = master.getApplicationAttemptId().getApplicationId().toString();
      assertEquals(application, waiting.get("application").asText());
      assertEquals(2, waiting.get("containers").asInt());
      String reason = waiting.get("reason").asText();
      assertTrue(reason.contains("memory demand exceeds what is available"), reason);

      JsonNode counts = status.snapshot();
      assertEquals(1, counts.get("agents_fresh").asInt());
      assertEquals(1, counts.get("nodes_enforced").asInt());
      assertEquals(1, counts.get("containers").asInt());
      assertEquals(1, counts.get("waiting_applications").asInt());
      assertEquals(2, counts.get("waiting_containers").asInt());
      assertEquals(1, counts.get("reports").asInt());
    }
  }

  @Test
  void theCoreIsAskedAtMostOnceASecond() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      CoreLink link = cluster.scheduler().link();
      ControlledClock clock = new ControlledClock();
      CoreStatus status = new CoreStatus(link.guard(), link.parts().status, link.core(), clock);
      link.recovery().setWaitsForTest();
      JsonNode before = status.snapshot();
      cluster.register("127.0.0.1:1", 4096, 4);

      clock.tickMsec(999);
      assertSame(before, status.snapshot());
      clock.tickMsec(1);
      assertEquals(1, status.snapshot().get("nodes").size(), "it is there a second later");

      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
      assertEquals("{}", status.snapshot().toString(), "at once");
    }
  }
}
