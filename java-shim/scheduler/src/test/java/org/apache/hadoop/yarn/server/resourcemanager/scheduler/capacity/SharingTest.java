package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.elastane.Await;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ResourceManager that becomes active shares its real depository. */
class SharingTest {
  @TempDir Path directory;

  @Test
  void itsCopyIsTakenOverByTheNextOne() throws Exception {
    Path shared = directory.resolve("shared");
    Path copy = shared.resolve("resourcemanager.sqlite");
    try (TestCluster cluster = TestCluster.start(sharing("one", shared))) {
      Await.until("a copy", () -> Files.exists(copy));
      assertEquals(0, cluster.scheduler().link().metrics().sharingFailureCount());
    }
    Path elsewhere = Files.move(copy, shared.resolve("another.sqlite"));
    try (TestCluster cluster = TestCluster.start(sharing("two", shared))) {
      Await.until("a copy of the second one", () -> Files.exists(copy));
      assertEquals(0, cluster.scheduler().link().metrics().sharingFailureCount());
    }
    Files.writeString(elsewhere, "this is no depository any more");
    Files.delete(copy);
    try (TestCluster cluster = TestCluster.start(sharing("three", shared))) {
      Await.until("a copy of the third one", () -> Files.exists(copy));
      assertEquals(1, cluster.scheduler().link().metrics().sharingFailureCount());
      assertTrue(cluster.scheduler().link().guard().inService(), "it schedules as before");
    }
  }

  private Configuration sharing(String name, Path shared) {
    Configuration conf = TestCluster.enforcing(directory.resolve(name));
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, shared.toUri().toString());
    return conf;
  }
}
