package org.elastane.usage;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.junit.jupiter.api.Test;

class CallerIdentityTest {
  private static final NodeId FIRST = NodeId.newInstance("node1.example.org", 45454);
  private static final NodeId SECOND = NodeId.newInstance("node2.example.org", 45454);
  private static final NodeId NAMELESS = NodeId.newInstance("gone.example.org", 45454);
  private static final Map<String, String> ADDRESSES =
      Map.of("node1.example.org", "10.0.0.1", "node2.example.org", "10.0.0.2");

  private long nowMs;
  private int lookups;
  private String moved;
  private final CallerIdentity counting =
      new CallerIdentity(
          Set.of(FIRST, SECOND, NAMELESS)::contains,
          new HostAddresses(this::lookUp, () -> nowMs, 9, 2, 0),
          null);

  private static final String PRINCIPAL = "nm/_HOST@EXAMPLE.ORG";

  @Test
  void aCallFromTheNodesAddressIsTheNodes() {
    assertDoesNotThrow(() -> identity(null).verify(from("10.0.0.1", "yarn", false), FIRST));
  }

  @Test
  void aCallFromAnotherNodesAddressIsNot() {
    ReportRefusedException e = refused(null, from("10.0.0.2", "yarn", false), FIRST);
    assertEquals(RefusalReason.FOREIGN_ADDRESS, e.reason());
    assertEquals(
        "FOREIGN_ADDRESS: the call came from 10.0.0.2, node1.example.org:45454 is at 10.0.0.1",
        e.getMessage());
  }

  @Test
  void aNodeThatHasNotRegisteredIsUnknownThoughItsAddressIsRight() {
    NodeId otherPort = NodeId.newInstance("node1.example.org", 1);
    assertEquals(
        RefusalReason.UNKNOWN_NODE,
        refused(null, from("10.0.0.1", "yarn", false), otherPort).reason());
  }

  @Test
  void aNodeWhoseNameHasNoAddressIsRefused() {
    assertEquals(
        RefusalReason.FOREIGN_ADDRESS,
        refused(null, from("10.0.0.1", "yarn", false), NAMELESS).reason());
  }

  @Test
  void withKerberosThePrincipalIsTheNodes() {
    Caller caller = from("10.0.0.1", "nm/node1.example.org@EXAMPLE.ORG", true);
    assertDoesNotThrow(() -> identity(PRINCIPAL).verify(caller, FIRST));
  }

  @Test
  void anotherNodesPrincipalIsRefusedAtTheRightAddress() {
    Caller caller = from("10.0.0.1", "nm/node2.example.org@EXAMPLE.ORG", true);
    ReportRefusedException e = refused(PRINCIPAL, caller, FIRST);
    assertEquals(RefusalReason.FOREIGN_PRINCIPAL, e.reason());
    assertTrue(e.getMessage().contains("nm/node2.example.org@EXAMPLE.ORG"), e.getMessage());
  }

  @Test
  void anotherServiceOfTheSameHostIsRefused() {
    Caller caller = from("10.0.0.1", "spark/node1.example.org@EXAMPLE.ORG", true);
    assertEquals(RefusalReason.FOREIGN_PRINCIPAL, refused(PRINCIPAL, caller, FIRST).reason());
  }

  @Test
  void anotherRealmIsRefused() {
    Caller caller = from("10.0.0.1", "nm/node1.example.org@ELSEWHERE.ORG", true);
    assertEquals(RefusalReason.FOREIGN_PRINCIPAL, refused(PRINCIPAL, caller, FIRST).reason());
  }

  @Test
  void aNameThatKerberosDidNotVouchForIsRefused() {
    Caller caller = from("10.0.0.1", "nm/node1.example.org@EXAMPLE.ORG", false);
    assertEquals(RefusalReason.FOREIGN_PRINCIPAL, refused(PRINCIPAL, caller, FIRST).reason());
  }

  @Test
  void whereAllNodesShareAPrincipalTheAddressStillTellsThemApart() {
    String shared = "nm/cluster@EXAMPLE.ORG";
    assertDoesNotThrow(() -> identity(shared).verify(from("10.0.0.1", shared, true), FIRST));
    assertEquals(
        RefusalReason.FOREIGN_ADDRESS,
        refused(shared, from("10.0.0.2", shared, true), FIRST).reason());
  }

  @Test
  void nodesThatReportAgainAndAgainAreLookedUpOnceInFiveMinutes() {
    for (int i = 0; i < 100; i++) {
      assertDoesNotThrow(() -> counting.verify(from("10.0.0.1", "yarn", false), FIRST));
      assertDoesNotThrow(() -> counting.verify(from("10.0.0.2", "yarn", false), SECOND));
      nowMs += 2_999;
    }
    assertEquals(2, lookups);

    nowMs += 2_999;
    assertDoesNotThrow(() -> counting.verify(from("10.0.0.1", "yarn", false), FIRST));
    assertEquals(3, lookups);
  }

  @Test
  void aForeignCallerCausesOneLookupInTenSeconds() {
    for (NodeId node : new NodeId[] {FIRST, NAMELESS}) {
      lookups = 0;
      for (int i = 0; i < 100; i++) {
        assertThrows(
            ReportRefusedException.class,
            () -> counting.verify(from("10.0.0.7", "yarn", false), node));
        nowMs += 100;
      }
      assertEquals(1, lookups, node.toString());
    }
  }

  @Test
  void aNodeThatGotAnotherAddressIsKnownByItTenSecondsLater() {
    assertDoesNotThrow(() -> counting.verify(from("10.0.0.1", "yarn", false), FIRST));
    moved = "10.0.0.9";
    nowMs += 10_000;
    assertDoesNotThrow(() -> counting.verify(from("10.0.0.9", "yarn", false), FIRST));
    assertThrows(
        ReportRefusedException.class,
        () -> counting.verify(from("10.0.0.1", "yarn", false), FIRST));
    assertEquals(2, lookups);
  }

  @Test
  void noMoreHostsAreRememberedThanThereMayBe() {
    HostAddresses addresses = new HostAddresses(this::lookUp, () -> nowMs, 1, 2, 0);
    for (int i = 0; i < 3; i++) {
      assertDoesNotThrow(() -> addresses.of("node1.example.org", numeric("10.0.0.1")));
      assertDoesNotThrow(() -> addresses.of("node2.example.org", numeric("10.0.0.2")));
    }
    assertEquals(6, lookups);
    assertDoesNotThrow(() -> addresses.of("node2.example.org", numeric("10.0.0.2")));
    assertEquals(6, lookups);
  }

  private InetAddress[] lookUp(String host) throws UnknownHostException {
    lookups++;
    return moved == null ? resolve(host) : new InetAddress[] {numeric(moved)};
  }

  private static CallerIdentity identity(String principal) {
    return new CallerIdentity(
        Set.of(FIRST, SECOND, NAMELESS)::contains,
        new HostAddresses(CallerIdentityTest::resolve, () -> 0, 9, 2, 0),
        principal);
  }

  private static ReportRefusedException refused(String principal, Caller caller, NodeId node) {
    return assertThrows(
        ReportRefusedException.class, () -> identity(principal).verify(caller, node));
  }

  private static Caller from(String address, String user, boolean kerberos) {
    return new Caller(numeric(address), user, kerberos);
  }

  private static InetAddress[] resolve(String host) throws UnknownHostException {
    String address = ADDRESSES.get(host);
    if (address == null) {
      throw new UnknownHostException(host);
    }
    return new InetAddress[] {numeric(address)};
  }

  private static InetAddress numeric(String address) {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(address, e);
    }
  }
}
