package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.Supplier;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.authorize.AccessControlList;
import org.apache.hadoop.security.authorize.ServiceAuthorizationManager;
import org.apache.hadoop.yarn.server.api.ResourceTrackerPB;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceTrackerService;

/**
 * Notices {@code yarn rmadmin -refreshServiceAcl}, which reloads the service ACLs of the
 * ResourceManager's own ports and tells nobody else: each time it makes new ones.
 */
final class ServiceAclWatch {
  static final long INTERVAL_MS = 1000;

  private final Supplier<ResourceTrackerService> resourceTracker;
  private final Runnable refresh;
  private AccessControlList seen;

  /**
   * @param resourceTracker where the NodeManagers' heartbeats arrive; null before it is made
   * @param refresh reloads the ACL of the port for reports
   */
  ServiceAclWatch(Supplier<ResourceTrackerService> resourceTracker, Runnable refresh) {
    this.resourceTracker = resourceTracker;
    this.refresh = refresh;
  }

  /** To be called every {@link #INTERVAL_MS}. */
  void look() {
    ResourceTrackerService heartbeats = resourceTracker.get();
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
    boolean isAnother = seen != null && now != seen;
    seen = now;
    if (isAnother) {
      refresh.run();
    }
  }
}
