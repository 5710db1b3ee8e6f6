package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * The users to whom CapacityScheduler gives nothing more in a queue, on nodes without a label. It
 * skips each of their applications. A round that leaves them out names others in their place, and
 * costs less.
 *
 * <p>A user is found here when CapacityScheduler has skipped one of its applications. It is
 * forgotten when it may have more, when that application has ended or moved, and when too many
 * users would have to be asked about again. If it is still at its limit, it is found again.
 */
final class UsersAtLimit {
  /**
   * The users whom one round asks about again, after something changed in their queues. Others are
   * forgotten, and found again when they are skipped.
   */
  static final int MOST_ASKED_AGAIN = 32;

  private final UserLimits limits = new UserLimits();
  private final CoreGuard guard;
  private final Part part;
  private final Supplier<Resource> clusterResource;
  private final CoreApplications applications;
  private final Map<Member, Found> found = new ConcurrentHashMap<>();

  UsersAtLimit(
      CoreGuard guard,
      Part part,
      Supplier<Resource> clusterResource,
      CoreApplications applications) {
    this.guard = guard;
    this.part = part;
    this.clusterResource = clusterResource;
    this.applications = applications;
  }

  /** Whether the user of an attempt may have nothing more in the queue. */
  boolean isAtLimit(QueueOrder queue, FiCaSchedulerApp attempt) {
    return guard.part(part, false, () -> ask(queue, attempt));
  }

  private boolean ask(QueueOrder queue, FiCaSchedulerApp attempt) {
    Member member = new Member(queue, attempt.getUser());
    if (!queue.isOf(attempt)) {
      found.remove(member);
      return false;
    }
    // Read before the limit: a change meanwhile makes the answer outdated.
    long version = UserLimits.version(attempt);
    if (limits.isUserAtLimit(attempt, clusterResource.get())) {
      found.put(member, new Found(attempt, version));
      return true;
    }
    found.remove(member);
    return false;
  }

  /** An attempt has left its queue. */
  void left(QueueOrder queue, FiCaSchedulerApp attempt) {
    found.computeIfPresent(
        new Member(queue, attempt.getUser()),
        (member, known) -> known.attempt.equals(attempt) ? null : known);
  }

  /**
   * The number of one application of each user who may still have nothing more; null for no user.
   */
  int[] numbers() {
    return found.isEmpty() ? null : guard.part(part, null, this::stillAtLimit);
  }

  private int[] stillAtLimit() {
    int[] numbers = new int[found.size()];
    int count = 0;
    int askedAgain = 0;
    for (Iterator<Map.Entry<Member, Found>> it = found.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<Member, Found> entry = it.next();
      Member member = entry.getKey();
      Found known = entry.getValue();
      ApplicationRecord application = applications.find(known.attempt.getApplicationId());
      boolean isUpToDate =
          application != null && known.version == UserLimits.version(known.attempt);
      if (application == null || (!isUpToDate && askedAgain++ >= MOST_ASKED_AGAIN)) {
        it.remove();
      } else if ((isUpToDate || ask(member.queue, known.attempt)) && count < numbers.length) {
        numbers[count++] = application.number;
      }
    }
    return count == 0 ? null : Arrays.copyOf(numbers, count);
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
