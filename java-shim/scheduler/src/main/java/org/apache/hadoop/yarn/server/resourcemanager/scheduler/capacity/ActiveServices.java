package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.elastane.depository.SharedDepository;
import org.elastane.usage.RegisteredNodes;
import org.elastane.usage.UsageServer;

/**
 * What runs on an active ResourceManager only: the port for agents' reports and its ACL, sharing,
 * the page, the look for the observe file, the sizes' metrics and history, and the reasons of
 * applications that wait.
 */
final class ActiveServices {
  private final CoreGuard guard;
  private final CoreHandle core;
  private final Parts parts;
  private final ElastaneMetrics metrics;
  private final RegisteredNodes registered;
  private final RepeatedWork observeFile;
  private final SizeMetrics sizes;
  private final RepeatedWork sizesFollow;
  private final RepeatedWork sizeHistory;
  private final RepeatedWork waitReasons;
  private RepeatedWork serviceAcl;
  private UsageServer usageServer;
  private RetriedStart usagePort;
  private RetriedStart page;
  private SharedDepository shared;

  ActiveServices(
      CoreGuard guard,
      CoreHandle core,
      Parts parts,
      ElastaneMetrics metrics,
      RegisteredNodes registered,
      ObserveFileWatch observeFile,
      SizeMetrics sizes,
      SizeHistory sizeHistory,
      WaitReasons waitReasons) {
    this.guard = guard;
    this.core = core;
    this.parts = parts;
    this.metrics = metrics;
    this.registered = registered;
    this.observeFile =
        new RepeatedWork(guard, "observe file", ObserveFileWatch.INTERVAL_MS, observeFile::look);
    this.sizes = sizes;
    sizesFollow = new RepeatedWork(guard, "metrics", SizeMetrics.INTERVAL_MS, sizes::follow);
    this.sizeHistory =
        new RepeatedWork(guard, "size history", SizeHistory.STEP_MS, sizeHistory::sample);
    this.waitReasons =
        new RepeatedWork(guard, "wait reasons", WaitReasons.INTERVAL_MS, waitReasons::tell);
  }

  void start(Configuration conf, ResourceManager resourceManager) {
    guard.always("watch the observe file", observeFile::start);
    guard.always("publish sizes", sizesFollow::start);
    guard.always("remember sizes", sizeHistory::start);
    guard.always("tell why applications wait", waitReasons::start);
    guard.always(
        "share the depository",
        () -> shared = SharedDepository.start(conf, core, metrics::sharingFailed));
    guard.always(
        "take reports",
        () -> {
          usageServer = new UsageServer(conf, registered, new UsageReports(guard, core, metrics));
          usagePort = new RetriedStart(parts.reports, "elastane-usage-port", usageServer::start);
          usagePort.start();
          ServiceAclWatch watch =
              new ServiceAclWatch(resourceManager, usageServer::refreshServiceAcl);
          serviceAcl =
              new RepeatedWork(guard, "service acl", ServiceAclWatch.INTERVAL_MS, watch::look);
          serviceAcl.start();
        });
    guard.always(
        "show the page",
        () -> {
          page =
              new RetriedStart(
                  parts.page, "elastane-page", () -> ElastaneServlet.register(resourceManager));
          page.start();
        });
  }

  void stop() {
    guard.always("stop watching the observe file", observeFile::stop);
    guard.always("stop remembering sizes", sizeHistory::stop);
    guard.always("stop telling why applications wait", waitReasons::stop);
    guard.always(
        "stop publishing sizes",
        () -> {
          sizesFollow.stop();
          sizes.close();
        });
    if (shared != null) {
      guard.always("stop sharing the depository", shared::close);
    }
    if (serviceAcl != null) {
      guard.always("stop following the service ACL", serviceAcl::stop);
    }
    if (usagePort != null) {
      guard.always("stop taking reports", () -> usagePort.stop(usageServer::stop));
    }
    if (page != null) {
      // The page stays and shows the next scheduler.
      guard.always("stop showing the page", () -> page.stop(() -> {}));
    }
  }

  /** The server that receives reports; null before {@link #start}. */
  UsageServer usageServer() {
    return usageServer;
  }
}
