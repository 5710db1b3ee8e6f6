package org.elastane.natives;

import java.nio.ByteBuffer;

/**
 * Every native method of Elastane; {@code docs/boundary.md} is normative for what each one takes,
 * returns and throws.
 *
 * <p>Bad input arrives as {@link IllegalArgumentException}. Anything else that goes wrong in the
 * core, a panic included, arrives as {@link CoreException}; the core behind that handle must not be
 * asked again then.
 *
 * <p>{@code nowMs} is Unix time in milliseconds. Nodes and applications are known to the core by
 * small numbers that it hands out and that are never used twice.
 */
public final class Natives {
  private Natives() {}

  // The library

  /** The version of the library; it must equal the jar's. */
  public static native String version();

  /** The one version of reports and replies that the library speaks. */
  public static native int protocolVersion();

  /** Where a direct buffer lies, so that the hot calls can take an address. */
  public static native long addressOf(ByteBuffer direct);

  // The core in a ResourceManager

  /**
   * Opens a core.
   *
   * @param settingsJson every {@code yarn.scheduler.elastane.*} key that is set, as one JSON object
   *     of strings
   * @param virtualCoresCount whether CapacityScheduler books virtual cores too, or memory alone
   * @return the handle that every other method takes
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  public static native long open(String settingsJson, boolean virtualCoresCount);

  /** Writes what is pending, ends the core's threads and frees it. */
  public static native void close(long core);

  /** A node registered with this size. */
  public static native int nodeAdded(
      long core, String node, long memoryBytes, int vcores, long nowMs);

  /** The registered (not the bookable) size of a node changed. */
  public static native void nodeResized(
      long core, int node, long memoryBytes, int vcores, long nowMs);

  /** A node is gone. */
  public static native void nodeRemoved(long core, int node, long nowMs);

  /**
   * An application was added.
   *
   * @param applicationJson {@code {"id","name","user","queue","type","tags":[],"commands":[]}}
   */
  public static native int applicationAdded(long core, String applicationJson, long nowMs);

  /** An application was moved to another queue. */
  public static native void applicationMoved(long core, int application, String queue, long nowMs);

  /** An application ended. */
  public static native void applicationRemoved(
      long core, int application, boolean succeeded, long nowMs);

  /**
   * What an application's next container asks for, and how many containers it waits for in all.
   *
   * @param requestPriority of the request that is served next: executors of one priority are taken
   *     as alike
   * @param priority of the application
   * @param count 0 when it waits for nothing
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
      long nowMs);

  // A round of allocation

  /**
   * The applications whose next container fits this node now and over time, the best first, at most
   * 16 of each queue.
   *
   * @param freeMemoryBytes what CapacityScheduler could still hand out on the node
   * @param resultAddress a direct buffer of {@code capacity} native-endian ints
   * @return how many application numbers were written; -1 when this node is to be scheduled as
   *     CapacityScheduler would (mode observe, or no fresh report from its agent)
   */
  public static native int round(
      long core,
      int node,
      long freeMemoryBytes,
      int freeVcores,
      long resultAddress,
      int capacity,
      long nowMs);

  /**
   * A container is about to be committed.
   *
   * @param requestPriority of the request that it is allocated for
   * @param mayRefuse whether the core has a veto; without it the container is only recorded
   * @return false when it must not be committed; nothing was recorded then
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

  /** A container ended, or its commit was refused elsewhere. An unknown one is ignored. */
  public static native void finished(long core, String container, long nowMs);

  // Usage and bookable capacity

  /**
   * An agent's report, and the reply for it.
   *
   * @throws IllegalArgumentException when the report is refused, with the reason
   */
  public static native byte[] report(
      long core, String node, int protocolVersion, byte[] body, long nowMs);

  /**
   * The nodes whose bookable capacity has to change, as pairs of ints: node, ratio in thousandths
   * of the registered size.
   *
   * @return how many pairs were written
   */
  public static native int bookableChanges(
      long core, long resultAddress, int capacityPairs, long nowMs);

  /** Whether a container of this queue may be preempted; see docs/boundary.md. */
  public static native boolean mayPreempt(
      long core,
      double queueAbsoluteCapacity,
      long queueUsedMemoryBytes,
      int queueUsedVcores,
      long nowMs);

  /**
   * The containers that have to give way now because the memory of their nodes is short. Each order
   * is given once.
   *
   * @param waitMs between telling an application master and the end of its container
   * @return {@code [{"container","kill","reason"}]}, or null when there is none. Where {@code kill}
   *     is false, the application master is to be told
   */
  public static native String memoryVictims(long core, long waitMs, long nowMs);

  /**
   * Writes all that is known of ended runs into another local file, which appears as a whole or not
   * at all. It takes as long as the file is large, and holds up no other call.
   *
   * @throws java.io.IOException naming the file and what went wrong; an older one stays then
   */
  public static native void copyDepository(long core, String to) throws java.io.IOException;

  /**
   * Takes over the runs and models of a copy that are not known here. It takes as long as the copy
   * is large, and holds up no other call.
   *
   * @return how many runs were new
   * @throws java.io.IOException naming the file and what is wrong with it; what was taken over
   *     before stays
   */
  public static native int takeOverDepository(long core, String from) throws java.io.IOException;

  /** What the core knows and counted, as JSON. */
  public static native String status(long core, long nowMs);

  // The NodeManager's side of the agent's socket

  /**
   * Tells the agent what runs and takes its report.
   *
   * @param containersJson {@code [{"container","pid","memory_bytes"}]}, the memory asked for
   * @return the body for the ResourceManager
   * @throws java.io.IOException when the agent is not there or does not answer in time
   */
  public static native byte[] agentReport(String socket, String containersJson, int timeoutMs)
      throws java.io.IOException;

  /** Tells the agent what runs, without asking for a report. */
  public static native void agentContainers(String socket, String containersJson, int timeoutMs)
      throws java.io.IOException;

  /** Hands the ResourceManager's reply to the agent. */
  public static native void agentApply(
      String socket, int protocolVersion, byte[] reply, int timeoutMs) throws java.io.IOException;

  // For the tests of the boundary

  /** Panics, with a lock of the core held. */
  static native void panicForTest(long core);

  /** Fails with an error of the core. */
  static native void errorForTest(long core);

  /**
   * The body of a report of a node of this size on which nothing runs.
   *
   * @param memoryVictim the container that is to give way; null for none
   */
  static native byte[] reportBodyForTest(int cpuMillicores, long memoryBytes, String memoryVictim);
}
