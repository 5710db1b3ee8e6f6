package org.elastane.spark;

/** Lines of progress. */
final class Lines {
  private Lines() {}

  /** The line as if the latest stage had just ended. */
  static String withoutTime(String line) {
    return line.replaceFirst("\"since_ms\":[0-9]+,", "\"since_ms\":0,");
  }

  /** A line of an application, of whose running tasks as many have begun as have ended. */
  static String of(long stagesEnded, long tasksEnded, long tasks) {
    return ProgressLine.of(stagesEnded, 0, tasksEnded, tasksEnded, tasks);
  }
}
