package org.elastane.usage;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.PolicyProvider;
import org.apache.hadoop.security.authorize.Service;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.ElastaneConfigurationException;
import org.elastane.conf.UsageAddresses;
import org.elastane.usage.proto.UsageProtos.UsageProtocolService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@link UsageProtocol} on its own port, so that reports cannot delay NodeManagers'
 * heartbeats.
 *
 * <p>Runs from the scheduler's {@code serviceStart} to its {@code serviceStop}: with high
 * availability, the port is open on the active ResourceManager only.
 */
public final class UsageServer {
  private static final Logger LOG = LoggerFactory.getLogger(UsageServer.class);

  /**
   * The callers allowed by hadoop-policy.xml; by default everybody who logs in as a NodeManager.
   */
  public static final String ACL = "security.elastane.usage.protocol.acl";

  /**
   * The RPC layer closes the connection on a longer message. Twice the largest body, so that a body
   * that is slightly too large still gets an answer.
   */
  private static final int MAX_MESSAGE_BYTES = 2 * UsageProtocol.MAX_BODY_BYTES;

  /** As many nodes as a large cluster has. */
  private static final int MOST_HOSTS = 20_000;

  /** DNS that works answers sooner: after a failover all nodes are looked up at once. */
  private static final long LOOKUP_WAIT_MS = 200;

  private static final long BIND_TIMEOUT_MS = 3000;
  private static final long BIND_RETRY_MS = 50;

  private final Configuration conf;
  private final RegisteredNodes nodes;
  private final ReportHandler handler;
  private final UsageMetrics metrics = UsageMetrics.register();
  private Server server;

  /**
   * Opens no port yet.
   *
   * @param nodes in a ResourceManager {@code rmContext.getRMNodes()::containsKey}
   */
  public UsageServer(Configuration conf, RegisteredNodes nodes, ReportHandler handler) {
    this.conf = new Configuration(conf);
    this.conf.setInt(CommonConfigurationKeys.IPC_MAXIMUM_DATA_LENGTH, MAX_MESSAGE_BYTES);
    this.nodes = nodes;
    this.handler = handler;
  }

  /**
   * Checks the keys that {@link #start} reads, so that a standby rejects an invalid value at its
   * own start and not when it becomes active.
   *
   * @throws ElastaneConfigurationException if a value is invalid
   */
  public static void check(Configuration conf) {
    UsageAddresses.toBind(conf);
    ElastaneConfiguration.usageHandlerCount(conf);
    nodeManagerPrincipal(conf);
  }

  /**
   * Opens the port.
   *
   * @throws IOException if the address cannot be bound
   * @throws ElastaneConfigurationException if a value is invalid
   */
  public synchronized void start() throws IOException {
    InetSocketAddress address = UsageAddresses.toBind(conf);
    // While DNS hangs, the other threads answer nodes whose addresses are known.
    int mostLookups = Math.max(1, ElastaneConfiguration.usageHandlerCount(conf) / 2);
    HostAddresses hosts =
        new HostAddresses(
            InetAddress::getAllByName, Time::monotonicNow, MOST_HOSTS, mostLookups, LOOKUP_WAIT_MS);
    CallerIdentity identity = new CallerIdentity(nodes, hosts, nodeManagerPrincipal(conf));
    UsageService service = new UsageService(identity, handler, metrics);
    RPC.setProtocolEngine(conf, UsageProtocol.class, ProtobufRpcEngine2.class);
    server = bound(service, address);
    try {
      // RefusalLog logs a refusal once; the RPC layer would log each with a stack trace.
      server.addSuppressedLoggingExceptions(ReportRefusedException.class);
      if (conf.getBoolean(CommonConfigurationKeys.HADOOP_SECURITY_AUTHORIZATION, false)) {
        server.refreshServiceAcl(conf, new UsagePolicy());
      }
      server.start();
    } catch (RuntimeException | Error e) {
      stop();
      throw e;
    }
    LOG.info("Listening for agents' reports at {}", server.getListenerAddress());
  }

  /**
   * Takes the ACL of a policy, where service authorization is on and the port is open.
   *
   * @param policy hadoop-policy.xml
   */
  public synchronized void refreshServiceAcl(Configuration policy) {
    if (server != null
        && conf.getBoolean(CommonConfigurationKeys.HADOOP_SECURITY_AUTHORIZATION, false)) {
      server.refreshServiceAclWithLoadedConfiguration(policy, new UsagePolicy());
      LOG.info("The port for agents' reports has the service ACL of hadoop-policy.xml");
    }
  }

  /** Closes the port if it is open. */
  public synchronized void stop() {
    if (server != null) {
      server.stop();
      server = null;
    }
  }

  /** The address of the open port. Valid between {@link #start} and {@link #stop}. */
  public synchronized InetSocketAddress address() {
    return server.getListenerAddress();
  }

  UsageMetrics metrics() {
    return metrics;
  }

  /**
   * Retries to bind: Hadoop frees the port some time after a server has stopped, and a
   * ResourceManager may become active again at once.
   */
  private Server bound(UsageService service, InetSocketAddress address) throws IOException {
    RPC.Builder builder =
        new RPC.Builder(conf)
            .setProtocol(UsageProtocol.class)
            .setInstance(UsageProtocolService.newReflectiveBlockingService(service))
            .setBindAddress(address.getHostString())
            .setPort(address.getPort())
            .setNumHandlers(ElastaneConfiguration.usageHandlerCount(conf));
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BIND_TIMEOUT_MS);
    while (true) {
      try {
        return builder.build();
      } catch (BindException e) {
        if (System.nanoTime() - deadlineNs > 0) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws InterruptedIOException {
    try {
      Thread.sleep(BIND_RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the usage port");
    }
  }

  private static String nodeManagerPrincipal(Configuration conf) {
    if (!UserGroupInformation.isSecurityEnabled()) {
      return null;
    }
    String principal = conf.getTrimmed(YarnConfiguration.NM_PRINCIPAL, "");
    if (principal.isEmpty()) {
      throw new ElastaneConfigurationException(
          YarnConfiguration.NM_PRINCIPAL, principal, "the NodeManagers' principal");
    }
    return principal;
  }

  private static final class UsagePolicy extends PolicyProvider {
    @Override
    public Service[] getServices() {
      return new Service[] {new Service(ACL, UsageProtocol.class)};
    }
  }
}
