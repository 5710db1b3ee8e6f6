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
  /** More than {@link ReportRates#MOST_IN_A_SECOND} reports of the node came within a second. */
  TOO_MANY,
  /** The body exceeds {@link UsageProtocol#MAX_BODY_BYTES}. */
  TOO_LARGE,
  /** The core refused the body: it is damaged, or of another version. */
  REFUSED_BODY,
  /** The core is out of service. */
  OUT_OF_SERVICE;

  /** Whether the report names no registered node. */
  boolean isOfNoNode() {
    return this == MALFORMED_NODE || this == UNKNOWN_NODE;
  }

  /** Whether the caller was known to be the node's NodeManager. */
  boolean isOfVerifiedCaller() {
    return this == TOO_MANY || this == TOO_LARGE || this == REFUSED_BODY || this == OUT_OF_SERVICE;
  }
}
