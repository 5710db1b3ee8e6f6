package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.elastane.usage.ReportHandler;

/** Hands the agents' reports to the core. A refusal is returned to the sender. */
final class UsageReports implements ReportHandler {
  private final CoreGuard guard;
  private final CoreHandle core;
  private final ElastaneMetrics metrics;

  UsageReports(CoreGuard guard, CoreHandle core, ElastaneMetrics metrics) {
    this.guard = guard;
    this.core = core;
    this.metrics = metrics;
  }

  @Override
  public byte[] report(NodeId node, int version, byte[] body) throws IOException {
    if (!guard.inService()) {
      throw outOfService(null);
    }
    long beginNs = System.nanoTime();
    try {
      byte[] reply = core.report(node.toString(), version, body);
      metrics.report(System.nanoTime() - beginNs);
      return reply;
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
