package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativesForTest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ElastaneScheduler for Hadoop's own tests (`make test-hadoop`), which know no agents: each node
 * reports its registered size when it registers, when it is resized and then every second.
 *
 * <p>A test's configuration knows no Elastane: the system properties {@code
 * elastane.hadoop-tests.mode} and {@code .directory} say what it lacks, and {@code .set.KEY} sets a
 * key of YARN's configuration.
 */
public class SelfReportingScheduler extends ElastaneScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(SelfReportingScheduler.class);
  private static final String PROPERTIES = "elastane.hadoop-tests.";
  private static final String SETTINGS = PROPERTIES + "set.";
  private static final long REPORT_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long BYTES_PER_MIB = 1024L * 1024L;
  private static final int MILLICORES_PER_CORE = 1000;

  private static final AtomicLong SCHEDULERS = new AtomicLong();
  private static final AtomicLong REPORTS = new AtomicLong();
  private static final AtomicLong REFUSED_REPORTS = new AtomicLong();
  private static final AtomicLong RESIZES = new AtomicLong();
  private static final AtomicLong OUT_OF_SERVICE = new AtomicLong();

  private final AtomicLong nextReportNs = new AtomicLong(System.nanoTime());
  private final AtomicBoolean outOfService = new AtomicBoolean();

  /** What all schedulers of this JVM did. */
  public static Map<String, Long> counts() {
    return Map.of(
        "reports", REPORTS.get(),
        "refused_reports", REFUSED_REPORTS.get(),
        "resizes", RESIZES.get(),
        "cores_out_of_service", OUT_OF_SERVICE.get());
  }

  @Override
  public void serviceInit(Configuration conf) throws Exception {
    // Tests run several ResourceManagers at once, and each needs its own files and port.
    Path own =
        Path.of(System.getProperty(PROPERTIES + "directory"))
            .resolve("scheduler-" + SCHEDULERS.incrementAndGet());
    conf.set(ElastaneConfiguration.MODE, System.getProperty(PROPERTIES + "mode"));
    conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:0");
    conf.set(ElastaneConfiguration.DEPOSITORY_FILE, own.resolve("depository.sqlite").toString());
    conf.set(ElastaneConfiguration.JOURNAL_FILE, own.resolve("decisions.jsonl").toString());
    if (UserGroupInformation.isSecurityEnabled()) {
      conf.set(YarnConfiguration.NM_PRINCIPAL, "nm/_HOST@EXAMPLE.COM");
    }
    for (String property : System.getProperties().stringPropertyNames()) {
      if (property.startsWith(SETTINGS)) {
        conf.set(property.substring(SETTINGS.length()), System.getProperty(property));
      }
    }
    super.serviceInit(conf);
  }

  @Override
  public void handle(SchedulerEvent event) {
    if (link() == null) {
      super.handle(event);
      return;
    }
    long nowNs = System.nanoTime();
    long dueNs = nextReportNs.get();
    if (nowNs - dueNs >= 0 && nextReportNs.compareAndSet(dueNs, nowNs + REPORT_INTERVAL_NS)) {
      for (FiCaSchedulerNode node : getAllNodes()) {
        report(node.getRMNode());
      }
    }
    if (event.getType() == SchedulerEventType.NODE_UPDATE) {
      tellAsks();
    }
    super.handle(event);
    if (event instanceof NodeAddedSchedulerEvent added) {
      report(added.getAddedRMNode());
    } else if (event instanceof NodeResourceUpdateSchedulerEvent resized) {
      report(resized.getRMNode());
    }
    if (!link().guard().inService() && outOfService.compareAndSet(false, true)) {
      OUT_OF_SERVICE.incrementAndGet();
      LOG.error("the core is out of service after {}", event);
    }
  }

  /** Some tests change an attempt's asks themselves, and no ApplicationMaster's call tells us. */
  private void tellAsks() {
    for (SchedulerApplication<FiCaSchedulerApp> application : getSchedulerApplications().values()) {
      FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
      if (attempt != null) {
        link().pendingChanged(attempt);
      }
    }
  }

  @Override
  NodeResizes.Resizer resizer() {
    NodeResizes.Resizer resizer = super.resizer();
    return new NodeResizes.Resizer() {
      @Override
      public void resize(RMNode node, Resource size) {
        RESIZES.incrementAndGet();
        resizer.resize(node, size);
      }

      @Override
      public void recomputeQueues() {
        resizer.recomputeQueues();
      }
    };
  }

  private void report(RMNode node) {
    Resource size = node.getTotalCapability();
    if (node.getState() == NodeState.DECOMMISSIONING) {
      // The ResourceManager shrinks it to what is allocated; its physical size stays.
      return;
    }
    byte[] body =
        NativesForTest.reportBody(
            size.getVirtualCores() * MILLICORES_PER_CORE, size.getMemorySize() * BYTES_PER_MIB);
    try {
      new UsageReports(link().guard(), link().core(), link().metrics())
          .report(node.getNodeID(), TestCluster.PROTOCOL_VERSION, body);
      REPORTS.incrementAndGet();
    } catch (IOException | IllegalArgumentException e) {
      REFUSED_REPORTS.incrementAndGet();
      LOG.warn("the report of {} with {} was refused", node.getNodeID(), size, e);
    }
  }
}
