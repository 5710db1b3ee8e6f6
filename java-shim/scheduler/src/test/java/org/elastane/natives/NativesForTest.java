package org.elastane.natives;

/** What the library has for tests only, for tests of other packages. */
public final class NativesForTest {
  private NativesForTest() {}

  /** Panics in the core, with its lock held. */
  public static void panic(long core) {
    Natives.panicForTest(core);
  }

  /** Fails with an error of the core. */
  public static void error(long core) {
    Natives.errorForTest(core);
  }

  /** The body of a report of a node of this size on which nothing runs. */
  public static byte[] reportBody(int cpuMillicores, long memoryBytes) {
    return reportBody(cpuMillicores, memoryBytes, null);
  }

  /** The same of one whose memory is short, so that this container is to give way. */
  public static byte[] reportBody(int cpuMillicores, long memoryBytes, String memoryVictim) {
    return Natives.reportBodyForTest(cpuMillicores, memoryBytes, memoryVictim);
  }
}
