package org.elastane.usage;

/** A usage server's counters, for tests of other packages. */
public final class UsageForTest {
  private UsageForTest() {}

  /** The number of accepted reports. */
  public static long reports(UsageServer server) {
    return server.metrics().reports.value();
  }

  public static long refused(UsageServer server) {
    return server.metrics().refused.value();
  }
}
