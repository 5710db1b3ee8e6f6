package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceInformation;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AppSchedulingInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.PendingAsk;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/**
 * An application's pending asks: the one that CapacityScheduler would serve next, and the number of
 * containers in all of them.
 */
final class PendingAsks {
  /** No pending ask. */
  static final PendingAsks NONE =
      new PendingAsks(false, 0, 0, 0L, 0, null, 0, false, RMNodeLabelsManager.NO_LABEL);

  /** Resource types begin with memory and virtual cores. */
  private static final int FIRST_COUNTABLE = 2;

  private final boolean forApplicationMaster;
  private final int requestPriority;
  private final int priority;
  private final long memoryMib;
  private final int virtualCores;
  private final long[] countables;
  private final int count;
  private final boolean forLabel;
  private final String label;

  private PendingAsks(
      boolean forApplicationMaster,
      int requestPriority,
      int priority,
      long memoryMib,
      int virtualCores,
      long[] countables,
      int count,
      boolean forLabel,
      String label) {
    this.forApplicationMaster = forApplicationMaster;
    this.requestPriority = requestPriority;
    this.priority = priority;
    this.memoryMib = memoryMib;
    this.virtualCores = virtualCores;
    this.countables = countables;
    this.count = count;
    this.forLabel = forLabel;
    this.label = label;
  }

  /**
   * Whether an ApplicationMaster's call may change what its application asks for.
   *
   * @param schedulingRequests null for none
   */
  static boolean mayChange(
      List<ResourceRequest> asks,
      List<SchedulingRequest> schedulingRequests,
      ContainerUpdates updates) {
    return !asks.isEmpty()
        || (schedulingRequests != null && !schedulingRequests.isEmpty())
        || !updates.getIncreaseRequests().isEmpty()
        || !updates.getDecreaseRequests().isEmpty()
        || !updates.getPromotionRequests().isEmpty()
        || !updates.getDemotionRequests().isEmpty();
  }

  /** Reads an attempt's asks, including those for node labels. */
  static PendingAsks of(FiCaSchedulerApp attempt) {
    if (attempt.isStopped()) {
      return NONE;
    }
    AppSchedulingInfo info = attempt.getAppSchedulingInfo();
    Resource next = null;
    int requestPriority = 0;
    int count = 0;
    boolean forLabel = false;
    String nextLabel = RMNodeLabelsManager.NO_LABEL;
    // The keys are in the allocator's order.
    for (SchedulerRequestKey key : info.getSchedulerKeys()) {
      PendingAsk ask = info.getPendingAsk(key);
      if (ask.getCount() > 0) {
        count += ask.getCount();
        String label = info.getAppPlacementAllocator(key).getPrimaryRequestedNodePartition();
        boolean isLabelled = label != null && !label.equals(RMNodeLabelsManager.NO_LABEL);
        forLabel |= isLabelled;
        if (next == null) {
          next = ask.getPerAllocationResource();
          requestPriority = key.getPriority().getPriority();
          nextLabel = isLabelled ? label : RMNodeLabelsManager.NO_LABEL;
        }
      }
    }
    if (next == null) {
      return NONE;
    }
    Priority priority = attempt.getPriority();
    return new PendingAsks(
        attempt.isWaitingForAMContainer(),
        requestPriority,
        priority == null ? 0 : priority.getPriority(),
        next.getMemorySize(),
        next.getVirtualCores(),
        countablesOf(next),
        count,
        forLabel,
        nextLabel);
  }

  boolean isForApplicationMaster() {
    return forApplicationMaster;
  }

  /** The priority of the request that is served next. */
  int getRequestPriority() {
    return requestPriority;
  }

  /** The priority of the application. */
  int getPriority() {
    return priority;
  }

  long getMemoryMib() {
    return memoryMib;
  }

  int getVirtualCores() {
    return virtualCores;
  }

  /** What the next container asks for beside memory and virtual cores; null for nothing. */
  long[] getCountables() {
    return countables;
  }

  /**
   * The amounts of the resource types beside memory and virtual cores, in the ResourceManager's
   * order of types; null if there are no such types.
   */
  static long[] countablesOf(Resource amounts) {
    ResourceInformation[] types = amounts.getResources();
    if (types.length <= FIRST_COUNTABLE) {
      return null;
    }
    long[] countables = new long[types.length - FIRST_COUNTABLE];
    for (int i = 0; i < countables.length; i++) {
      countables[i] = types[FIRST_COUNTABLE + i].getValue();
    }
    return countables;
  }

  int getCount() {
    return count;
  }

  /** Whether a container is to run on a node with a node label. */
  boolean isForLabel() {
    return forLabel;
  }

  /** The node label that the next container requests; empty for none. */
  String getLabel() {
    return label;
  }

  /** Whether the next container fits by memory and virtual cores. */
  boolean fitInto(Resource free) {
    return count > 0 && memoryMib <= free.getMemorySize() && virtualCores <= free.getVirtualCores();
  }

  /** Whether the core would be told the same. */
  boolean sameAs(PendingAsks other) {
    return other != null
        && forApplicationMaster == other.forApplicationMaster
        && requestPriority == other.requestPriority
        && priority == other.priority
        && memoryMib == other.memoryMib
        && virtualCores == other.virtualCores
        && Arrays.equals(countables, other.countables)
        && count == other.count
        && forLabel == other.forLabel
        && label.equals(other.label);
  }
}
