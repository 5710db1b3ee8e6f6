package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.usage.ReportHandler;

/** Hands the agents' reports to the core. A refusal is returned to the sender. */
final class UsageReports implements ReportHandler {
  private final CoreGuard guard;
  private final CoreHandle core;

  UsageReports(CoreGuard guard, CoreHandle core) {
    this.guard = guard;
    this.core = core;
  }

  @Override
  public byte[] report(NodeId node, int version, byte[] body) throws IOException {
    if (!guard.inService()) {
      throw outOfService(null);
    }
    try {
      return core.report(node.toString(), version, body);
    } catch (IllegalArgumentException e) {
      throw e;
    } catch (CoreHandle.CoreClosedException e) {
      throw outOfService(e);
    } catch (Throwable t) {
      guard.takeOutOfService("report", t);
      throw outOfService(t);
    }
  }

  private static IOException outOfService(Throwable cause) {
    return new IOException("the core is out of service", cause);
  }
}
