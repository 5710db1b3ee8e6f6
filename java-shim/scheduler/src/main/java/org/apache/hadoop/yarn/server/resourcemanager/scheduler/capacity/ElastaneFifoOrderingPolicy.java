package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.Iterator;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.IteratorSelector;

/**
 * The fifo policy, but in a round the core's order. A subclass, since the preemption monitor looks
 * for the class; what it preempts first stays the fifo policy's.
 */
final class ElastaneFifoOrderingPolicy extends FifoOrderingPolicy<FiCaSchedulerApp> {
  private final QueueOrder order;

  ElastaneFifoOrderingPolicy(QueueOrder order) {
    this.order = order;
  }

  @Override
  public Iterator<FiCaSchedulerApp> getAssignmentIterator(IteratorSelector selector) {
    Iterator<FiCaSchedulerApp> ordered = order.iterator(getSchedulableEntities());
    return ordered == null ? super.getAssignmentIterator(selector) : ordered;
  }

  @Override
  public void addSchedulableEntity(FiCaSchedulerApp application) {
    super.addSchedulableEntity(application);
    if (application != null) {
      order.entered(application);
    }
  }

  @Override
  public void addAllSchedulableEntities(Collection<FiCaSchedulerApp> all) {
    super.addAllSchedulableEntities(all);
    all.forEach(order::entered);
  }

  @Override
  public boolean removeSchedulableEntity(FiCaSchedulerApp application) {
    boolean removed = super.removeSchedulableEntity(application);
    if (removed) {
      order.left(application);
    }
    return removed;
  }

  @Override
  public String getInfo() {
    return "Elastane" + super.getInfo();
  }
}
