package org.elastane.node;

import java.io.IOException;
import org.elastane.natives.Natives;

/** Calls the agent through libelastane.so, which must be loaded. */
final class NativeAgentConnection implements AgentConnection {
  private final String socket;
  private final int timeoutMs;

  NativeAgentConnection(String socket, int timeoutMs) {
    this.socket = socket;
    this.timeoutMs = timeoutMs;
  }

  @Override
  public int version() {
    return Natives.protocolVersion();
  }

  @Override
  public void tell(String containersJson) throws IOException {
    Natives.agentContainers(socket, containersJson, timeoutMs);
  }

  @Override
  public byte[] collect(String containersJson) throws IOException {
    return Natives.agentReport(socket, containersJson, timeoutMs);
  }

  @Override
  public void apply(int version, byte[] reply) throws IOException {
    Natives.agentApply(socket, version, reply, timeoutMs);
  }
}
