package org.elastane.node;

import org.apache.hadoop.yarn.server.nodemanager.ContainerStateTransitionListener;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerEvent;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerImpl;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerState;

/**
 * Gives {@link ElastaneNodeService} the NodeManager's context, and wakes it when a container
 * changes its state. Configured in {@code
 * yarn.nodemanager.container-state-transition-listener.classes}.
 *
 * <p>The NodeManager creates the listener and the service independently, so both share static
 * fields. That is safe since a JVM runs one NodeManager.
 */
public final class ElastaneContainerListener implements ContainerStateTransitionListener {
  static final ChangeSignal CHANGES = new ChangeSignal();

  private static volatile Context context;

  /** The NodeManager's context; null if this listener is not configured. */
  static Context context() {
    return context;
  }

  @Override
  public void init(Context nodeManager) {
    context = nodeManager;
  }

  @Override
  public void preTransition(ContainerImpl container, ContainerState before, ContainerEvent event) {}

  @Override
  public void postTransition(
      ContainerImpl container, ContainerState before, ContainerState after, ContainerEvent event) {
    if (before != after) {
      CHANGES.raise();
    }
  }
}
