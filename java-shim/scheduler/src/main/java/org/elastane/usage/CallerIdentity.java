package org.elastane.usage;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.yarn.api.records.NodeId;

/**
 * Verifies that a caller is the node it reports for. The node must be registered, and the call must
 * come from one of its addresses and, with Kerberos, from its NodeManager's principal: every
 * NodeManager may log in, but none may report for another.
 */
final class CallerIdentity {
  private final RegisteredNodes nodes;
  private final HostAddresses hosts;
  private final String nodeManagerPrincipal;

  /**
   * @param nodeManagerPrincipal the value of yarn.nodemanager.principal; null without Kerberos. If
   *     it does not contain {@code _HOST}, all NodeManagers share one principal and only addresses
   *     distinguish them.
   */
  CallerIdentity(RegisteredNodes nodes, HostAddresses hosts, String nodeManagerPrincipal) {
    this.nodes = nodes;
    this.hosts = hosts;
    this.nodeManagerPrincipal = nodeManagerPrincipal;
  }

  /** Throws unless {@code caller} is the NodeManager of {@code node}. */
  void verify(Caller caller, NodeId node) throws ReportRefusedException {
    if (!nodes.contains(node)) {
      throw new ReportRefusedException(
          RefusalReason.UNKNOWN_NODE, "no node " + node + " has registered");
    }
    verifyAddress(caller, node);
    if (nodeManagerPrincipal != null) {
      verifyPrincipal(caller, node);
    }
  }

  private void verifyAddress(Caller caller, NodeId node) throws ReportRefusedException {
    InetAddress[] addresses;
    try {
      addresses = hosts.of(node.getHost(), caller.address());
    } catch (UnknownHostException e) {
      throw new ReportRefusedException(
          RefusalReason.FOREIGN_ADDRESS, "no address of " + node + " is known: " + e.getMessage());
    }
    if (!Arrays.asList(addresses).contains(caller.address())) {
      throw new ReportRefusedException(
          RefusalReason.FOREIGN_ADDRESS,
          "the call came from "
              + (caller.address() == null ? "no address" : caller.address().getHostAddress())
              + ", "
              + node
              + " is at "
              + addressList(addresses));
    }
  }

  private void verifyPrincipal(Caller caller, NodeId node) throws ReportRefusedException {
    String expected;
    try {
      expected = SecurityUtil.getServerPrincipal(nodeManagerPrincipal, node.getHost());
    } catch (IOException e) {
      throw new ReportRefusedException(
          RefusalReason.FOREIGN_PRINCIPAL,
          "cannot derive the principal of " + node + " from " + nodeManagerPrincipal + ": " + e);
    }
    if (!caller.kerberos() || !expected.equals(caller.user())) {
      throw new ReportRefusedException(
          RefusalReason.FOREIGN_PRINCIPAL,
          "the caller is "
              + caller.user()
              + (caller.kerberos() ? "" : " without Kerberos")
              + ", the NodeManager of "
              + node
              + " is "
              + expected);
    }
  }

  private static String addressList(InetAddress[] addresses) {
    StringBuilder list = new StringBuilder();
    for (InetAddress address : addresses) {
      list.append(list.length() == 0 ? "" : ", ").append(address.getHostAddress());
    }
    return list.toString();
  }
}
