package org.elastane.spark;

import java.util.regex.Pattern;

/** What the driver answers and {@code elastane.progress} has: one line of JSON. */
final class ProgressLine {
  private static final String NUMBER = "[0-9]{1,18}";
  private static final String PART = "(0\\.[0-9]{3}|1\\.000)";
  private static final Pattern FORM =
      Pattern.compile(
          "\\{\"version\":1,\"stages_ended\":"
              + NUMBER
              + ",\"since_ms\":"
              + NUMBER
              + ",\"part_ended\":"
              + PART
              + ",\"part_begun\":"
              + PART
              + "\\}");

  private ProgressLine() {}

  /**
   * Rounds the part that has ended down and the one that has begun up, so that the true ones lie
   * between them.
   *
   * @param sinceMs from the end of the latest stage
   * @param tasks of the running stages; without one nothing has ended, and everything may have
   *     begun
   * @param tasksEnded at most {@code tasksBegun}
   * @param tasksBegun at most {@code tasks}
   */
  static String of(long stagesEnded, long sinceMs, long tasksEnded, long tasksBegun, long tasks) {
    long ended = tasks == 0 ? 0 : 1000 * tasksEnded / tasks;
    long begun = tasks == 0 ? 1000 : (1000 * tasksBegun + tasks - 1) / tasks;
    return "{\"version\":1,\"stages_ended\":"
        + stagesEnded
        + ",\"since_ms\":"
        + sinceMs
        + ",\"part_ended\":"
        + part(ended)
        + ",\"part_begun\":"
        + part(begun)
        + "}";
  }

  /** Digits as JSON has them, whatever the locale. */
  private static String part(long thousandths) {
    return thousandths / 1000 + "." + Long.toString(1000 + thousandths % 1000).substring(1);
  }

  /** Returns the answer if it is a line, and throws if it is not. */
  static String check(Object answer) {
    if (answer instanceof String && FORM.matcher((String) answer).matches()) {
      return (String) answer;
    }
    throw new IllegalArgumentException("The driver's answer is no progress");
  }
}
