package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import javax.management.ObjectName;
import org.apache.hadoop.metrics2.util.MBeans;

/** Answers why an application waits, for who asks over /jmx. */
final class CoreStatus implements CoreStatusMXBean {
  static final String SERVICE = "ResourceManager";
  static final String NAME = "ElastaneStatus";

  private final CoreGuard guard;
  private final CoreHandle core;
  private ObjectName registered;

  CoreStatus(CoreGuard guard, CoreHandle core) {
    this.guard = guard;
    this.core = core;
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
    return guard.supply("status", "{}", core::status);
  }
}
