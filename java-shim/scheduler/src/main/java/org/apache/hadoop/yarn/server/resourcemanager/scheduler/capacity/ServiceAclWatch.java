package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.authorize.AccessControlList;
import org.apache.hadoop.security.authorize.ServiceAuthorizationManager;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.api.ResourceTrackerPB;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceTrackerService;

/**
 * Notices {@code yarn rmadmin -refreshServiceAcl}, which reloads the service ACLs of the
 * ResourceManager's own ports and tells nobody else: each time it creates new lists, whose identity
 * is compared.
 */
final class ServiceAclWatch {
  static final long INTERVAL_MS = 1000;

  private static final String FILE = YarnConfiguration.HADOOP_POLICY_CONFIGURATION_FILE;

  private final ResourceManager resourceManager;
  private final Consumer<Configuration> refresh;
  private AccessControlList seen;

  /**
   * @param refresh gets hadoop-policy.xml as it is now
   */
  ServiceAclWatch(ResourceManager resourceManager, Consumer<Configuration> refresh) {
    this.resourceManager = resourceManager;
    this.refresh = refresh;
  }

  /** To be called every {@link #INTERVAL_MS}. */
  void look() {
    ResourceTrackerService heartbeats = resourceManager.getResourceTrackerService();
    Server server = heartbeats == null ? null : heartbeats.getServer();
    // The scheduler becomes active before that port is open.
    if (server == null) {
      return;
    }
    ServiceAuthorizationManager acls = server.getServiceAuthorizationManager();
    // Where hadoop.security.authorization is off, no port has an ACL.
    if (!acls.getProtocolsWithAcls().contains(ResourceTrackerPB.class)) {
      return;
    }
    AccessControlList now = acls.getProtocolsAcls(ResourceTrackerPB.class);
    if (now != seen) {
      refresh.accept(policy());
      seen = now;
    }
  }

  /** Read as YARN reads it: the keys of a former file do not count. */
  private Configuration policy() {
    Configuration policy = new Configuration(false);
    try (InputStream file =
        resourceManager
            .getRMContext()
            .getConfigurationProvider()
            .getConfigurationInputStream(resourceManager.getConfig(), FILE)) {
      if (file != null) {
        policy.addResource(file);
        // Reads the stream before it is closed.
        policy.size();
      }
      return policy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (YarnException e) {
      throw new IllegalStateException("cannot read " + FILE, e);
    }
  }
}
