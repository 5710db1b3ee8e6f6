package org.elastane.node;

import java.io.IOException;

/** An agent that the test stops and starts; keeps the last list of containers. */
final class FakeAgent implements AgentConnection {
  private boolean away;
  private RuntimeException fault;
  private String containers;
  private int tells;
  private int reports;
  private byte[] applied;

  synchronized void goAway() {
    away = true;
    containers = null;
  }

  synchronized void comeBack() {
    away = false;
  }

  /** Every exchange throws this until it is null again. */
  synchronized void fail(RuntimeException with) {
    fault = with;
  }

  /** The containers that the agent knows of; null before it was told any list. */
  synchronized String containers() {
    return containers;
  }

  synchronized int tells() {
    return tells;
  }

  synchronized int reports() {
    return reports;
  }

  synchronized byte[] applied() {
    return applied;
  }

  @Override
  public int version() {
    return 1;
  }

  @Override
  public synchronized void tell(String containersJson) throws IOException {
    requireHere();
    tells++;
    containers = containersJson;
  }

  @Override
  public synchronized byte[] collect(String containersJson) throws IOException {
    requireHere();
    reports++;
    containers = containersJson;
    return new byte[] {(byte) reports};
  }

  @Override
  public synchronized void apply(int version, byte[] reply) throws IOException {
    requireHere();
    applied = reply;
  }

  private void requireHere() throws IOException {
    if (fault != null) {
      throw fault;
    }
    if (away) {
      throw new IOException("connection refused");
    }
  }
}
