package org.elastane.natives;

/** Natives' test methods, for tests of other packages. */
public final class NativesForTest {
  private NativesForTest() {}

  /** Panics in the core while its lock is held. */
  public static void panic(long core) {
    Natives.panicForTest(core);
  }

  /** Fails with an error of the core. */
  public static void error(long core) {
    Natives.errorForTest(core);
  }

  /** Containers of this request priority are predicted to need this for an hour. */
  public static void foresee(
      long core, int application, int requestPriority, int cpuMillicores, long memoryBytes) {
    Natives.foreseeForTest(core, application, requestPriority, cpuMillicores, memoryBytes);
  }

  /** The body of a report of an idle node of this size. */
  public static byte[] reportBody(int cpuMillicores, long memoryBytes) {
    return reportBody(cpuMillicores, memoryBytes, null);
  }

  /** The body of a report of a node short of memory, on which this container is to be preempted. */
  public static byte[] reportBody(int cpuMillicores, long memoryBytes, String memoryVictim) {
    return Natives.reportBodyForTest(cpuMillicores, memoryBytes, memoryVictim);
  }
}
