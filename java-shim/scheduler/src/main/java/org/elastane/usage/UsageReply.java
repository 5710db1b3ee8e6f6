package org.elastane.usage;

/** A body from the core to the agent, with its version. */
public final class UsageReply {
  private final int version;
  private final byte[] body;

  public UsageReply(int version, byte[] body) {
    this.version = version;
    this.body = body;
  }

  public int version() {
    return version;
  }

  public byte[] body() {
    return body;
  }
}
