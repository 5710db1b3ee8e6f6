package org.elastane.node;

import java.io.IOException;

/**
 * The agent's socket as the NodeManager uses it. It stands between the node service and the native
 * methods, which cannot be replaced in a JVM, so that losing and finding the agent can be tested
 * without an agent.
 *
 * <p>Every method fails with an {@link IOException} when the agent is not there, does not answer in
 * time, or refuses.
 */
interface AgentConnection {
  /** The version of the bodies that this side hands out; the agent was checked to speak it. */
  int version();

  /**
   * Tells the agent what runs.
   *
   * @param containersJson {@code [{"container","pid","memory_bytes"}]}, the memory asked for
   */
  void tell(String containersJson) throws IOException;

  /** Tells the agent what runs, and collects its report: a body for the ResourceManager. */
  byte[] collect(String containersJson) throws IOException;

  /** Hands the agent the ResourceManager's reply. */
  void apply(int version, byte[] reply) throws IOException;
}
