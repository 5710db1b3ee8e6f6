package org.elastane.usage;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.NodeId;

/** Handles reports of verified senders. Called by several threads at once. */
public interface ReportHandler {
  /**
   * Handles one report.
   *
   * @param version the version of the body, not checked yet
   * @return the body of the reply, in the same version
   * @throws IllegalArgumentException with the reason, if the report is refused
   * @throws IOException if the core is out of service
   */
  byte[] report(NodeId node, int version, byte[] body) throws IOException;
}
