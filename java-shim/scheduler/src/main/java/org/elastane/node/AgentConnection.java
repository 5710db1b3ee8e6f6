package org.elastane.node;

import java.io.IOException;

/**
 * The NodeManager's calls to the agent. An interface, so that tests can replace the native methods
 * and need no agent.
 *
 * <p>Every method throws an {@link IOException} if the agent is not reached, does not answer in
 * time, or refuses.
 */
interface AgentConnection {
  /** The version of the bodies that {@link #collect} returns. */
  int version();

  /**
   * Tells the agent which containers run.
   *
   * @param containersJson {@code [{"container","pid","memory_bytes"}]} with the requested memory
   */
  void tell(String containersJson) throws IOException;

  /** Tells the agent which containers run, and collects its report for the ResourceManager. */
  byte[] collect(String containersJson) throws IOException;

  /** Hands the agent the ResourceManager's reply. */
  void apply(int version, byte[] reply) throws IOException;
}
