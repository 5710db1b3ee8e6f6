package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.Iterator;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.IteratorSelector;

/**
 * The core's order within a round, the fair policy's elsewhere. Must be a subclass: the preemption
 * monitor tests for the class, and preempts in the fair policy's order.
 */
final class ElastaneFairOrderingPolicy extends FairOrderingPolicy<FiCaSchedulerApp>
    implements OrderedByCore {
  private final QueueOrder order;

  ElastaneFairOrderingPolicy(QueueOrder order, FairOrderingPolicy<?> replaced) {
    this.order = order;
    setSizeBasedWeight(replaced.getSizeBasedWeight());
  }

  @Override
  public QueueOrder order() {
    return order;
  }

  @Override
  public Iterator<FiCaSchedulerApp> getAssignmentIterator(IteratorSelector selector) {
    Iterator<FiCaSchedulerApp> ordered =
        order.iterator(getSchedulableEntities(), () -> super.getAssignmentIterator(selector));
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
