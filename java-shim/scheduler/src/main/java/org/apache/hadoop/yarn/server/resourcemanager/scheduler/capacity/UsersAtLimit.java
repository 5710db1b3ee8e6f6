package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * The users to whom CapacityScheduler gives nothing more in a queue, on nodes without a label. It
 * skips each of their applications. A round that leaves them out names others in their place, and
 * costs less.
 *
 * <p>A user is found here when CapacityScheduler has skipped one of its applications, and forgotten
 * when it may have more.
 */
final class UsersAtLimit {
  private final UserLimits limits = new UserLimits();
  private final Supplier<Resource> clusterResource;
  private final CoreApplications applications;
  private final Map<Member, Found> found = new ConcurrentHashMap<>();

  UsersAtLimit(Supplier<Resource> clusterResource, CoreApplications applications) {
    this.clusterResource = clusterResource;
    this.applications = applications;
  }

  /** Whether the user of an attempt that CapacityScheduler skipped may have nothing more. */
  boolean isAtLimit(QueueOrder queue, FiCaSchedulerApp attempt) {
    Member member = new Member(queue, attempt.getUser());
    // Read before the limit: a change meanwhile makes the answer outdated.
    long version = UserLimits.version(attempt);
    if (limits.isUserAtLimit(attempt, clusterResource.get())) {
      found.put(member, new Found(attempt, version));
      return true;
    }
    found.remove(member);
    return false;
  }

  /**
   * The number of one application of each user who may still have nothing more; null for no user.
   */
  int[] numbers() {
    if (found.isEmpty()) {
      return null;
    }
    int[] numbers = found.entrySet().stream().flatMapToInt(this::number).toArray();
    return numbers.length == 0 ? null : numbers;
  }

  private IntStream number(Map.Entry<Member, Found> entry) {
    Member member = entry.getKey();
    FiCaSchedulerApp attempt = entry.getValue().attempt;
    ApplicationRecord application = applications.find(attempt.getApplicationId());
    ApplicationRecord.Entry current = application == null ? null : application.entry();
    if (current == null || current.queue != member.queue || current.attempt != attempt) {
      // It ended or went to another queue. The user is found again by another application.
      found.remove(member, entry.getValue());
      return IntStream.empty();
    }
    boolean isStill =
        entry.getValue().version == UserLimits.version(attempt) || isAtLimit(member.queue, attempt);
    return isStill ? IntStream.of(application.number) : IntStream.empty();
  }

  private static final class Found {
    private final FiCaSchedulerApp attempt;
    private final long version;

    private Found(FiCaSchedulerApp attempt, long version) {
      this.attempt = attempt;
      this.version = version;
    }
  }

  /** A user in a queue. */
  private static final class Member {
    private final QueueOrder queue;
    private final String user;

    private Member(QueueOrder queue, String user) {
      this.queue = queue;
      this.user = user;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Member
          && queue == ((Member) other).queue
          && user.equals(((Member) other).user);
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(queue) + user.hashCode();
    }
  }
}
