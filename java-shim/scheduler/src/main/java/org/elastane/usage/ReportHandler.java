package org.elastane.usage;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.NodeId;

/** Takes a report whose sender has been verified. Called from several threads at once. */
public interface ReportHandler {
  /**
   * Hands the report on.
   *
   * @param version the version of the body, not checked yet
   * @return the body of the reply, in the same version
   * @throws IllegalArgumentException when the report is refused, with the reason
   * @throws IOException when reports are not taken now
   */
  byte[] report(NodeId node, int version, byte[] body) throws IOException;
}
