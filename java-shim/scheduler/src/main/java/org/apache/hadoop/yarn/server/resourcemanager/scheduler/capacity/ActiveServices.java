package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.conf.Configuration;
import org.elastane.depository.SharedDepository;
import org.elastane.usage.RegisteredNodes;
import org.elastane.usage.UsageServer;

/** What runs on an active ResourceManager only: the port for agents' reports, and sharing. */
final class ActiveServices {
  private final CoreGuard guard;
  private final CoreHandle core;
  private final Parts parts;
  private final ElastaneMetrics metrics;
  private final RegisteredNodes registered;
  private UsagePort usagePort;
  private SharedDepository shared;

  ActiveServices(
      CoreGuard guard,
      CoreHandle core,
      Parts parts,
      ElastaneMetrics metrics,
      RegisteredNodes registered) {
    this.guard = guard;
    this.core = core;
    this.parts = parts;
    this.metrics = metrics;
    this.registered = registered;
  }

  void start(Configuration conf) {
    guard.always(
        "share the depository",
        () -> shared = SharedDepository.start(conf, core, metrics::sharingFailed));
    guard.always(
        "take reports",
        () -> {
          UsageReports reports = new UsageReports(guard, core);
          usagePort = new UsagePort(parts.reports, new UsageServer(conf, registered, reports));
          usagePort.start();
        });
  }

  void stop() {
    if (shared != null) {
      guard.always("stop sharing the depository", shared::close);
    }
    if (usagePort != null) {
      guard.always("stop taking reports", usagePort::stop);
    }
  }

  /** The server that receives reports; null before {@link #start}. */
  UsageServer usageServer() {
    return usagePort == null ? null : usagePort.server();
  }
}
