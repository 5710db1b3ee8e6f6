package org.elastane.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnsafeOvercommitTest {
  private final Configuration conf = new YarnConfiguration();

  @Test
  void hadoopsDefaultsAreSafe() {
    assertEquals(Optional.empty(), UnsafeOvercommit.find(conf));
  }

  @ParameterizedTest
  @CsvSource({
    "yarn.nodemanager.opportunistic-containers-max-queue-length,5",
    "yarn.nodemanager.opportunistic-containers-queue-policy,BY_RESOURCES",
    "yarn.nodemanager.elastic-memory-control.enabled,true",
  })
  void aSettingThatHoldsTheNodeToItsSizeIsNamedWithItsValue(String key, String value) {
    conf.set(key, value);
    String found = UnsafeOvercommit.find(conf).orElseThrow();
    assertTrue(found.startsWith(key + " is " + value), found);
  }
}
