package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.junit.jupiter.api.Test;

/** Whatever is broken in an executor, the job succeeds, and the half does no more. */
class BrokenExecutorTest extends LocalRun {
  @Test
  void withNothingBrokenTheFileHasTheLastStage() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      SparkJobs.runJob(context);
      awaitLine(
          "{\"version\":1,\"stages_ended\":2,\"since_ms\":0,\"part_ended\":0.000,\"part_begun\":1.000}\n");
      SparkJobs.runJob(context);
      awaitLine(
          "{\"version\":1,\"stages_ended\":4,\"since_ms\":0,\"part_ended\":0.000,\"part_begun\":1.000}\n");
    }
    assertEquals(List.of(), warnings.messages());
    assertTrue(Files.exists(progress()));
  }

  @Test
  void aDirectoryThatIsAFile() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    writeTo(id -> file);
    runUntilOff(ExecutorHalf.WHEN_OFF);
  }

  @Test
  void aDirectoryThatIsMissing() throws Exception {
    writeTo(id -> directory.resolve("missing"));
    runUntilOff(ExecutorHalf.WHEN_OFF);
  }

  @Test
  void anExecutorHalfThatCannotStart() throws Exception {
    writeTo(
        id -> {
          throw new NoClassDefFoundError("gone");
        });
    runUntilOff(ExecutorHalf.WHEN_OFF);
  }

  @Test
  void anAnswerThatNeverComes() {
    SilentDriver silent = new SilentDriver(conf);
    ExecutorHalf half = new ExecutorHalf(id -> directory, 50);
    ChosenHalves.executor =
        () ->
            new ExecutorPlugin() {
              @Override
              public void init(PluginContext context, Map<String, String> extraConf) {
                half.init(silent, extraConf);
              }

              @Override
              public void shutdown() {
                half.shutdown();
              }
            };
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          try (JavaSparkContext context = new JavaSparkContext(conf)) {
            silent.awaitQuestion();
            SparkJobs.runJob(context);
          }
        });
    assertEquals(List.of(), warnings.messages());
  }

  @Test
  void withoutADriverHalfNothingIsAsked() {
    new ExecutorHalf(id -> directory, 50).init(new SilentDriver(conf), Map.of());
    assertFalse(hasThread());
  }

  @Test
  void aLocalRunWritesNothing() {
    SparkConf local = SparkJobs.conf("local[2]", ElastanePlugin.class);
    try (JavaSparkContext context = new JavaSparkContext(local)) {
      assertFalse(hasThread());
      SparkJobs.runJob(context);
    }
    assertFalse(Files.exists(Path.of(ProgressFile.NAME)));
    assertEquals(List.of(), warnings.messages());
  }

  private void awaitLine(String line) throws Exception {
    Deadline.await(
        () -> Files.exists(progress()) ? Files.readString(progress()) : "", line::equals);
  }
}
