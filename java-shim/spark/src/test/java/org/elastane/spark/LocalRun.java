package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A job on a local master with halves of the plugin that a test chose. */
abstract class LocalRun {
  @TempDir Path directory;
  final Warnings warnings = new Warnings();
  final SparkConf conf = SparkJobs.conf("local[2]", ChosenHalves.class);

  @BeforeEach
  void nothingIsBroken() {
    ChosenHalves.driver = () -> new DriverHalf(new StageProgress(() -> 0));
    writeTo(id -> directory);
  }

  @AfterEach
  void noThreadIsLeft() throws Exception {
    warnings.close();
    Deadline.await(LocalRun::hasThread, running -> !running);
  }

  static void writeTo(Function<String, Path> directoryOf) {
    ChosenHalves.executor = () -> new ExecutorHalf(directoryOf, 50);
  }

  /** The half that fails says so once, and jobs succeed before and after. */
  void runUntilOff(String whenOff) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      SparkJobs.runJob(context);
      Deadline.await(warnings::messages, messages -> !messages.isEmpty());
      Deadline.await(LocalRun::hasThread, running -> !running);
      SparkJobs.runJob(context);
    }
    assertEquals(List.of("WARN " + whenOff), warnings.messages());
  }

  static boolean hasThread() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("elastane-progress"));
  }

  Path progress() {
    return directory.resolve(ProgressFile.NAME);
  }
}
