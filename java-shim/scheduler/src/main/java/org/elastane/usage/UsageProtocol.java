package org.elastane.usage;

import org.apache.hadoop.ipc.ProtocolInfo;
import org.apache.hadoop.security.KerberosInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.usage.proto.UsageProtos;

/**
 * A NodeManager's reports to the ResourceManager, separate from its heartbeat: {@code report(node,
 * version, body) → (version, body)}, for {@code ProtobufRpcEngine2}. docs/boundary.md is normative.
 */
@ProtocolInfo(protocolName = "org.elastane.usage.UsageProtocol", protocolVersion = 1)
@KerberosInfo(
    serverPrincipal = YarnConfiguration.RM_PRINCIPAL,
    clientPrincipal = YarnConfiguration.NM_PRINCIPAL)
public interface UsageProtocol extends UsageProtos.UsageProtocolService.BlockingInterface {
  /** The version of this protocol. Bodies have their own version. */
  long VERSION = 1;

  /** The largest body in either direction, in bytes. */
  int MAX_BODY_BYTES = 256 * 1024;
}
