package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class UnknownNamesTest {
  @TempDir Path directory;

  @Test
  void queuesLabelsAndNodesThatAreNotThereAreNamedAndNoOthers() throws Exception {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, "observe", directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      cluster.registerReporting("127.0.0.1:1", 4096, 4);
      conf.set(ElastaneConfiguration.MODE + ".queue.root.defualt", "enforce");
      conf.set(ElastaneConfiguration.MAX_RATIO + ".queue.root.default", "2");
      conf.set(ElastaneConfiguration.MODE + ".label.gpus", "observe");
      LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(UnknownNames.class));
      try {
        SettingsRefreshTest.refresh(
            cluster, conf, ElastaneConfiguration.ENFORCED_NODES, "127.0.0.1, 127.0.0.1:1, N2");

        String said = log.getOutput();
        assertTrue(said.contains("mode.queue.root.defualt acts nowhere"), said);
        assertTrue(said.contains("mode.enforced-nodes names N2, and no such node"), said);
        assertTrue(said.contains("mode.label.gpus acts nowhere: there is no node label"), said);
        assertEquals(3, said.split("WARN", -1).length - 1, said);
      } finally {
        log.stopCapturing();
      }
    }
  }
}
