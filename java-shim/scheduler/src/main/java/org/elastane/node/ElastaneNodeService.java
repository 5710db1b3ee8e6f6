package org.elastane.node;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.UsageAddresses;
import org.elastane.natives.NativeLibrary;
import org.elastane.natives.NativeLibraryException;
import org.elastane.retry.Backoff;
import org.elastane.usage.UsageClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the agent which processes belong to containers, and carries the agent's reports to the
 * ResourceManager. Configured as auxiliary service {@value #NAME} together with {@link
 * ElastaneContainerListener}.
 *
 * <p>No failure here affects a container or ends the NodeManager. An invalid value of Elastane's
 * own keys keeps the NodeManager from starting.
 */
public final class ElastaneNodeService extends AuxiliaryService {
  /** The name under {@code yarn.nodemanager.aux-services}. */
  public static final String NAME = "elastane";

  private static final Logger LOG = LoggerFactory.getLogger(ElastaneNodeService.class);
  private static final long FIRST_RETRY_MS = 500;
  private static final long MOST_RETRY_MS = 5000;
  private static final long STOP_MS = 2000;

  private final List<Thread> threads = new ArrayList<>();
  private UsageClient resourceManager;

  public ElastaneNodeService() {
    super(NAME);
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    ElastaneConfiguration.agentSocket(conf);
    ElastaneConfiguration.agentTimeoutMs(conf);
    ElastaneConfiguration.reportIntervalMs(conf);
    UsageAddresses.toConnect(conf);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    Optional<String> obstacle = obstacle(getConfig());
    if (obstacle.isPresent()) {
      LOG.error(
          "This node sends no reports and is scheduled as CapacityScheduler would: {}",
          obstacle.get());
    } else {
      startThreads(getConfig());
    }
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    for (Thread thread : threads) {
      thread.interrupt();
    }
    for (Thread thread : threads) {
      thread.join(STOP_MS);
    }
    threads.clear();
    if (resourceManager != null) {
      resourceManager.close();
      resourceManager = null;
    }
    super.serviceStop();
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext application) {}

  @Override
  public void stopApplication(ApplicationTerminationContext application) {}

  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.allocate(0);
  }

  private static Optional<String> obstacle(Configuration conf) {
    if (ElastaneContainerListener.context() == null) {
      return Optional.of(
          YarnConfiguration.NM_CONTAINER_STATE_TRANSITION_LISTENERS
              + " does not name "
              + ElastaneContainerListener.class.getName());
    }
    Optional<String> unsafe = UnsafeOvercommit.find(conf);
    if (unsafe.isPresent()) {
      return unsafe;
    }
    try {
      NativeLibrary.load();
    } catch (NativeLibraryException e) {
      return Optional.of(e.getMessage());
    }
    return Optional.empty();
  }

  private void startThreads(Configuration conf) {
    String socket = ElastaneConfiguration.agentSocket(conf);
    NodeState node = new NodeManagerState(ElastaneContainerListener.context());
    AgentLink agent =
        new AgentLink(
            node,
            new NativeAgentConnection(socket, ElastaneConfiguration.agentTimeoutMs(conf)),
            new Outage(LOG, "the agent at " + socket));
    resourceManager = new UsageClient(conf);
    ReportLoop reports =
        new ReportLoop(
            node,
            agent,
            resourceManager::report,
            new Outage(LOG, "the ResourceManager at " + UsageAddresses.toConnect(conf)),
            backoff(),
            ElastaneConfiguration.reportIntervalMs(conf));
    // Two threads, so that an unresponsive ResourceManager does not delay what the agent is told.
    start(
        "elastane-containers",
        new ContainerWatch(agent, ElastaneContainerListener.CHANGES, backoff()));
    start("elastane-reports", reports);
  }

  private void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
        (dead, e) -> LOG.error("Thread {} ended; this node sends no reports", dead.getName(), e));
    threads.add(thread);
    thread.start();
  }

  private static Backoff backoff() {
    return new Backoff(FIRST_RETRY_MS, MOST_RETRY_MS);
  }
}
