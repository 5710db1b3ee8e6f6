package org.elastane.spark;

import java.util.regex.Pattern;

/** What the driver answers and {@code elastane.progress} has: one line of JSON. */
final class ProgressLine {
  private static final Pattern FORM =
      Pattern.compile(
          "\\{\"version\":1,\"stages_ended\":[0-9]{1,18},\"part\":(0\\.[0-9]{3}|1\\.000)\\}");

  private ProgressLine() {}

  /**
   * Rounds the part down, so that it is 1 only once every task has ended.
   *
   * @param tasksEnded at most {@code tasks}
   * @param tasks of the running stages; without one the part is 0
   */
  static String of(long stagesEnded, long tasksEnded, long tasks) {
    long thousandths = tasks == 0 ? 0 : 1000 * tasksEnded / tasks;
    String digits = Long.toString(1000 + thousandths % 1000).substring(1);
    return "{\"version\":1,\"stages_ended\":"
        + stagesEnded
        + ",\"part\":"
        + thousandths / 1000
        + "."
        + digits
        + "}";
  }

  /** Returns the answer if it is a line, and throws if it is not. */
  static String check(Object answer) {
    if (answer instanceof String && FORM.matcher((String) answer).matches()) {
      return (String) answer;
    }
    throw new IllegalArgumentException("The driver's answer is no progress");
  }
}
