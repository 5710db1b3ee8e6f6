package org.elastane.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.Test;

class UsageAddressesTest {
  private final Configuration conf = new YarnConfiguration();

  @Test
  void aNodeManagerFindsTheResourceManagerByItsHostName() {
    conf.set("yarn.resourcemanager.hostname", "127.0.0.7");
    assertEquals(List.of("127.0.0.7:8045"), toConnect());
  }

  @Test
  void anAddressWithAHostIsWhereItIs() {
    conf.set("yarn.resourcemanager.hostname", "127.0.0.7");
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.8:9000");
    assertEquals(List.of("127.0.0.8:9000"), toConnect());
  }

  @Test
  void anAddressWithoutAHostNamesThePort() {
    conf.set("yarn.resourcemanager.hostname", "127.0.0.7");
    conf.set("yarn.scheduler.elastane.usage.address", "0.0.0.0:9000");
    assertEquals(List.of("127.0.0.7:9000"), toConnect());
  }

  @Test
  void withoutAHostNameTheResourceTrackersHostIsTheResourceManagers() {
    conf.set("yarn.resourcemanager.resource-tracker.address", "127.0.0.9:8031");
    assertEquals(List.of("127.0.0.9:8045"), toConnect());
  }

  @Test
  void eachOfSeveralResourceManagersIsFound() {
    highlyAvailable();
    conf.set("yarn.scheduler.elastane.usage.address", "0.0.0.0:9000");
    conf.set("yarn.scheduler.elastane.usage.address.rm2", "127.0.0.4:9001");
    assertEquals(List.of("127.0.0.1:9000", "127.0.0.4:9001"), toConnect());
  }

  @Test
  void aSharedAddressDoesNotMakeTwoResourceManagersOne() {
    highlyAvailable();
    conf.set("yarn.scheduler.elastane.usage.address", "127.0.0.5:9000");
    assertEquals(List.of("127.0.0.1:9000", "127.0.0.2:9000"), toConnect());
  }

  @Test
  void anAddressToBindWhoseHostDoesNotResolveIsNamedWithItsKey() {
    conf.set("yarn.scheduler.elastane.usage.address", "no-such-host.invalid:9000");
    Exception refused =
        assertThrows(ElastaneConfigurationException.class, () -> UsageAddresses.toBind(conf));
    assertEquals(
        "yarn.scheduler.elastane.usage.address is 'no-such-host.invalid:9000', allowed is"
            + " host:port with a host that resolves",
        refused.getMessage());
  }

  @Test
  void aResourceManagerBindsItsOwnAddress() {
    assertEquals("0.0.0.0:8045", text(UsageAddresses.toBind(conf)));
    highlyAvailable();
    conf.set("yarn.resourcemanager.ha.id", "rm2");
    conf.set("yarn.scheduler.elastane.usage.address.rm2", "127.0.0.2:9001");
    assertEquals("127.0.0.2:9001", text(UsageAddresses.toBind(conf)));
    conf.set("yarn.resourcemanager.bind-host", "0.0.0.0");
    assertEquals("0.0.0.0:9001", text(UsageAddresses.toBind(conf)));
  }

  @Test
  void whatIsNoAddressIsNamedWithItsKey() {
    conf.set("yarn.scheduler.elastane.usage.address", "host:port");
    ElastaneConfigurationException e =
        assertThrows(ElastaneConfigurationException.class, () -> UsageAddresses.toBind(conf));
    assertEquals(
        "yarn.scheduler.elastane.usage.address is 'host:port', allowed is host:port with a"
            + " number as port",
        e.getMessage());
  }

  private void highlyAvailable() {
    conf.setBoolean("yarn.resourcemanager.ha.enabled", true);
    conf.set("yarn.resourcemanager.ha.rm-ids", "rm1,rm2");
    conf.set("yarn.resourcemanager.hostname.rm1", "127.0.0.1");
    conf.set("yarn.resourcemanager.hostname.rm2", "127.0.0.2");
  }

  private List<String> toConnect() {
    return UsageAddresses.toConnect(conf).stream()
        .map(UsageAddressesTest::text)
        .collect(Collectors.toList());
  }

  private static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }
}
