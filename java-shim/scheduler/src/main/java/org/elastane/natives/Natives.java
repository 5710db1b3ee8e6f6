package org.elastane.natives;

import java.nio.ByteBuffer;

/**
 * Elastane's native methods. {@code docs/boundary-core.md} is normative for their arguments,
 * results and exceptions.
 *
 * <p>Invalid arguments throw {@link IllegalArgumentException}. Any other failure of the core,
 * including a panic, throws {@link CoreException}; the core behind that handle must not be called
 * again.
 *
 * <p>{@code nowMs} is Unix time in milliseconds. The core identifies nodes and applications by
 * small numbers that it assigns and never uses twice.
 */
public final class Natives {
  private Natives() {}

  // The library

  /** The version of the library; it must equal the jar's. */
  public static native String version();

  /** The version of reports and replies that the library supports. */
  public static native int protocolVersion();

  /** The address of a direct buffer, for {@link #round} and {@link #bookableChanges}. */
  public static native long addressOf(ByteBuffer direct);

  // The core in a ResourceManager

  /**
   * Opens a core.
   *
   * @param settingsJson every {@code yarn.scheduler.elastane.*} key that is set, as one JSON object
   *     of strings
   * @param virtualCoresCount whether CapacityScheduler books virtual cores, or memory alone
   * @return the handle that the other methods take
   * @throws IllegalArgumentException naming the key, its value and the allowed values
   */
  public static native long open(String settingsJson, boolean virtualCoresCount);

  /**
   * Checks settings without a core.
   *
   * @param settingsJson as {@link #open}'s
   * @throws IllegalArgumentException naming the key, its value and the allowed values
   */
  public static native void check(String settingsJson, boolean virtualCoresCount);

  /**
   * The core goes on by other settings. The files of depository and journal stay those that are
   * open, and whether virtual cores count stays as it is.
   *
   * @param settingsJson as {@link #open}'s
   * @throws IllegalArgumentException naming the key, its value and the allowed values; nothing is
   *     changed then
   */
  public static native void goOnBy(
      long core, String settingsJson, boolean virtualCoresCount, long nowMs);

  /** Completes pending writes, ends the core's threads and frees the core. */
  public static native void close(long core);

  /** A node registered with this size. */
  public static native int nodeAdded(
      long core, String node, long memoryBytes, int vcores, long nowMs);

  /** The registered (not the bookable) size of a node changed. */
  public static native void nodeResized(
      long core, int node, long memoryBytes, int vcores, long nowMs);

  /** A node got this label; empty for none. */
  public static native void nodeLabelled(long core, int node, String label, long nowMs);

  /** A node was removed. */
  public static native void nodeRemoved(long core, int node, long nowMs);

  /**
   * An application was added.
   *
   * @param applicationJson {@code
   *     {"id","name","user","queue","type","tags":[],"age_ms","commands":[],
   *     "shared_profiles":[{"queue","names":[]}]}}
   */
  public static native int applicationAdded(long core, String applicationJson, long nowMs);

  /** An application was moved to another queue. */
  public static native void applicationMoved(long core, int application, String queue, long nowMs);

  /** An application ended. */
  public static native void applicationRemoved(
      long core, int application, boolean succeeded, long nowMs);

  /**
   * An application's pending asks: the request of its next container and the number of containers
   * in all asks.
   *
   * @param requestPriority the priority of the request that is served next; executors of one
   *     priority count as alike
   * @param priority the priority of the application
   * @param count 0 if the application waits for nothing
   * @param countables the amounts of resource types beside memory and virtual cores that the next
   *     container asks for, in the ResourceManager's order of types; null for none
   * @param label the node label that the next container asks for; empty for none
   * @param standing what the application's queue does with its asks: one of the constants below
   */
  public static native void pending(
      long core,
      int application,
      boolean applicationMaster,
      int requestPriority,
      int priority,
      long memoryBytes,
      int vcores,
      int count,
      long[] countables,
      String label,
      int standing,
      long nowMs);

  /** Rounds order the queue's applications. */
  public static final int STANDING_ORDERED = 0;

  /** CapacityScheduler alone orders them: no round names the application. */
  public static final int STANDING_BY_ITS_QUEUE = 1;

  /**
   * The queue does not let the application start yet: no round names it, but nodes are raised for
   * it.
   */
  public static final int STANDING_HELD = 2;

  // A round of allocation

  /** The first 16 of each queue in the core's order, to be tried in this order. */
  public static final int NAME_BEST = 0;

  /** All that the rules of {@link #NAME_BEST} admit, by number. */
  public static final int NAME_REST = 1;

  /** All that fit, by number, for a queue that keeps its own order. */
  public static final int NAME_FITTING = 2;

  /**
   * The applications whose next container fits this node now and over time.
   *
   * @param freeMemoryBytes the memory that CapacityScheduler can still allocate on the node
   * @param freeCountables the same for other resource types; see {@link #pending}
   * @param atUserLimit one application of each user to whom CapacityScheduler gives nothing more in
   *     a queue; the user's applications in that queue are left out. Null for none
   * @param named {@link #NAME_BEST}, {@link #NAME_REST} or {@link #NAME_FITTING}
   * @param resultAddress the address of a direct buffer of {@code capacity} native-endian ints
   * @return the count of applications; only {@code capacity} of them are written. -1 if
   *     CapacityScheduler's order applies to this node (mode observe, or no fresh report from its
   *     agent)
   */
  public static native int round(
      long core,
      int node,
      long freeMemoryBytes,
      int freeVcores,
      long[] freeCountables,
      int[] atUserLimit,
      int named,
      long resultAddress,
      int capacity,
      long nowMs);

  /**
   * CapacityScheduler went past these applications, which {@link #round} had named for the node,
   * and placed nothing of them: something that the core does not know keeps them from it. They go
   * behind the others there for a bounded time.
   */
  public static native void skipped(long core, int node, int[] applications, long nowMs);

  /**
   * A container is about to be committed.
   *
   * @param requestPriority the priority of the request that the container is allocated for
   * @param mayRefuse whether the core may refuse; otherwise the container is only recorded
   * @return false if the container must not be committed; it is not recorded
   */
  public static native boolean commit(
      long core,
      String container,
      int application,
      int node,
      boolean applicationMaster,
      int requestPriority,
      long memoryBytes,
      int vcores,
      boolean mayRefuse,
      long startedMs,
      long nowMs);

  /** A container ended, or CapacityScheduler rejected it. An unknown container is ignored. */
  public static native void finished(long core, String container, long nowMs);

  /**
   * Which containers on a node are booked otherwise than they run: booked only, running only, or of
   * another size.
   *
   * @param runningJson {@code [{"container","memory_bytes","vcores"}]}
   * @return their ids as a JSON array, or null if there is none
   */
  public static native String bookedOtherwise(long core, int node, String runningJson, long nowMs);

  // Usage and bookable capacity

  /**
   * Hands an agent's report to the core.
   *
   * @return the reply for the agent
   * @throws IllegalArgumentException with the reason, if the report is refused
   */
  public static native byte[] report(
      long core, String node, int protocolVersion, byte[] body, long nowMs);

  /**
   * The nodes whose bookable capacity is to change, as three ints each: node, and the ratios of its
   * memory and of its virtual cores to the registered size in thousandths.
   *
   * @param limit the most nodes to write
   * @return the count of nodes written
   */
  public static native int bookableChanges(long core, long resultAddress, int limit, long nowMs);

  /**
   * The queues and their shares, as they are configured now.
   *
   * @param queuesJson {@code
   *     [{"queue","label","is_leaf","capacity","maximum","guaranteed","at_most"}]}, one for each
   *     label of a queue; both shares are parts of all nodes of the label. {@code guaranteed} and
   *     {@code at_most} are null or {@code {"memory_bytes","vcores"}}, where the queue is
   *     configured by amounts
   */
  public static native void queues(long core, String queuesJson, long nowMs);

  /** Whether every node stays at its registered size from now on. */
  public static native void forbidRaising(long core, boolean forbidden, long nowMs);

  /**
   * What an application's queue lets it still take on nodes without a label, as memory in MiB and
   * virtual cores.
   *
   * @return the count of ints written: 2, or 0 if the queue sets no limit of its own
   */
  public static native int headroom(
      long core, int application, long resultAddress, int capacity, long nowMs);

  /** Whether a container on this node may be preempted; see docs/boundary-core.md. */
  public static native boolean mayPreempt(long core, int node, String queue, long nowMs);

  /**
   * These nodes, and no others, are being decommissioned gracefully; their Spark executors are told
   * to leave with the replies to their agents' next reports.
   */
  public static native void draining(long core, int[] nodes, long nowMs);

  /**
   * CapacityScheduler preempts a container, or no longer does. The core only records it.
   *
   * @param json {@code {"cause","node","container","application","queue","outcome","reason"}};
   *     {@code cause} is {@code capacity-scheduler}, {@code queue} may be null, and {@code outcome}
   *     is {@code told}, {@code killable}, {@code preempted} or {@code spared}
   */
  public static native void preempted(long core, String json, long nowMs);

  /**
   * The containers to preempt now because their nodes are short of memory. Each order is returned
   * once.
   *
   * @param waitMs the least time between telling an ApplicationMaster and killing its container; an
   *     executor that leaves by itself has longer
   * @return {@code [{"container","kill","reason"}]}, or null if there is none. {@code kill} is
   *     false if the ApplicationMaster is to be told first
   */
  public static native String memoryVictims(long core, long waitMs, long nowMs);

  /**
   * Writes all ended runs to another local file, which appears complete or not at all. The time
   * grows with the depository's size; other calls are not blocked.
   *
   * @throws java.io.IOException naming the file and the cause; an older copy is kept
   */
  public static native void copyDepository(long core, String to) throws java.io.IOException;

  /**
   * Imports the runs and models of a copy that this depository does not have. The time grows with
   * the copy's size; other calls are not blocked.
   *
   * @return the number of new runs
   * @throws java.io.IOException naming the file and the cause; runs imported before the failure are
   *     kept
   */
  public static native int takeOverDepository(long core, String from) throws java.io.IOException;

  /**
   * Whether the parts of the core that fail alone work, as JSON: {@code {"depository_in_service",
   * "journal_in_service"}}. Waits for no other call.
   */
  public static native String health(long core);

  /**
   * What people ask about the latest decisions, one node, containers, applications, the plan,
   * profiles or what mode enforce would win.
   *
   * @param question {@code {"about": "decisions", "limit", "before", "application", "container",
   *     "node", "kind"}}, {@code {"about": "node", "node"}}, {@code {"about": "containers",
   *     "containers"}}, {@code {"about": "predicted-ends", "applications"}}, {@code {"about":
   *     "plan", "label"}}, {@code {"about": "profiles", "offset", "limit"}} or {@code {"about":
   *     "advice"}}
   * @return JSON; {@code null} as JSON for a node that the core does not know
   */
  public static native String answer(long core, String question, long nowMs);

  /** The core's state and counters, as JSON. */
  public static native String status(long core, long nowMs);

  // The NodeManager's side of the agent's socket

  /**
   * Tells the agent which containers run, and collects its report.
   *
   * @param containersJson {@code [{"container","pid","memory_bytes"}]} with the requested memory
   * @return the body for the ResourceManager
   * @throws java.io.IOException if the agent is not reached or does not answer in time
   */
  public static native byte[] agentReport(String socket, String containersJson, int timeoutMs)
      throws java.io.IOException;

  /** Tells the agent which containers run, without collecting a report. */
  public static native void agentContainers(String socket, String containersJson, int timeoutMs)
      throws java.io.IOException;

  /** Hands the ResourceManager's reply to the agent. */
  public static native void agentApply(
      String socket, int protocolVersion, byte[] reply, int timeoutMs) throws java.io.IOException;

  // For the tests of the boundary

  /** Panics while holding a lock of the core. */
  static native void panicForTest(long core);

  /** Fails with an error of the core. */
  static native void errorForTest(long core);

  /** From now on, containers of this request priority are predicted to need this for an hour. */
  static native void foreseeForTest(
      long core, int application, int requestPriority, int cpuMillicores, long memoryBytes);

  /**
   * The body of a report of an idle node of this size.
   *
   * @param memoryVictim the container to preempt; null for none
   */
  static native byte[] reportBodyForTest(int cpuMillicores, long memoryBytes, String memoryVictim);
}
