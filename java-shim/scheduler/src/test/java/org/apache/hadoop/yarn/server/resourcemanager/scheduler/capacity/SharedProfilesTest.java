package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class SharedProfilesTest {
  private final Configuration conf = new Configuration(false);
  private final SharedProfiles profiles = new SharedProfiles(() -> conf);

  @Test
  void theInnermostQueueIsFirst() {
    conf.set("yarn.scheduler.capacity.root.elastane.shared-profiles", "*");
    conf.set("yarn.scheduler.capacity.root.etl.elastane.shared-profiles", " Nightly , weekly ");
    conf.set("yarn.scheduler.capacity.root.other.elastane.shared-profiles", "hourly");

    assertEquals(
        "[{queue=root.etl, names=[Nightly, weekly]}, {queue=root, names=[*]}]",
        profiles.of("root.etl.daily").toString());
    assertEquals("[{queue=root, names=[*]}]", profiles.of("root.adhoc").toString());
  }

  @Test
  void aQueueWithoutTheSettingSharesNothing() {
    assertEquals(Collections.emptyList(), profiles.of("root.etl"));
    conf.set(SharedProfiles.key("root.etl"), "");
    assertEquals(Collections.emptyList(), profiles.of("root.etl"));
  }
}
