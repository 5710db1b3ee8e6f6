package org.elastane.usage;

/** What a usage server counted, for tests of other packages. */
public final class UsageForTest {
  private UsageForTest() {}

  /** Reports that were taken. */
  public static long reports(UsageServer server) {
    return server.metrics().reports.value();
  }

  public static long refused(UsageServer server) {
    return server.metrics().refused.value();
  }
}
