package org.elastane.usage;

/** Why a report is refused. */
public enum RefusalReason {
  /** The node is not written as host:port. */
  MALFORMED_NODE,
  /** No node of that name has registered. */
  UNKNOWN_NODE,
  /** The call came from an address that is not the node's. */
  FOREIGN_ADDRESS,
  /** The caller's Kerberos principal is not the node's. */
  FOREIGN_PRINCIPAL,
  /** The body passes {@link UsageProtocol#MAX_BODY_BYTES}. */
  TOO_LARGE,
  /** The core refused the body: another version, or damaged. */
  REFUSED_BODY,
  /** Reports are not taken now: the core is out of service. */
  OUT_OF_SERVICE
}
