package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import javax.management.ObjectName;
import org.apache.hadoop.metrics2.util.MBeans;
import org.apache.hadoop.yarn.util.Clock;

/** Serves the core's status, with the reason why each application waits, on /jmx. */
final class CoreStatus implements CoreStatusMXBean {
  static final String SERVICE = "ResourceManager";
  static final String NAME = "ElastaneStatus";

  /** Rounds wait while the core writes its status, and /jmx may be read at any rate. */
  private static final long VALID_FOR_MS = 1000;

  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;
  private final Clock clock;
  private ObjectName registered;
  private String latest;
  private long latestMs;

  CoreStatus(CoreGuard guard, Part part, CoreHandle core, Clock clock) {
    this.guard = guard;
    this.part = part;
    this.core = core;
    this.clock = clock;
  }

  void register() {
    registered = MBeans.register(SERVICE, NAME, this);
  }

  void unregister() {
    if (registered != null) {
      MBeans.unregister(registered);
      registered = null;
    }
  }

  @Override
  public String getStatus() {
    return guard.part(part, "{}", this::latest);
  }

  private synchronized String latest() {
    long nowMs = clock.getTime();
    if (latest == null || nowMs - latestMs >= VALID_FOR_MS) {
      latest = core.status();
      latestMs = nowMs;
    }
    return latest;
  }
}
