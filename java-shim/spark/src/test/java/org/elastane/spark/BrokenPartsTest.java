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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever is broken, the job succeeds, and the half that failed says so once and does no more. */
class BrokenPartsTest {
  private static final String DRIVER_WARNING = "WARN " + DriverHalf.WHEN_OFF;
  private static final String EXECUTOR_WARNING = "WARN " + ExecutorHalf.WHEN_OFF;

  @TempDir Path directory;
  private final Warnings warnings = new Warnings();
  private final SparkConf conf = SparkJobs.conf("local[2]", ChosenHalves.class);

  @BeforeEach
  void nothingIsBroken() {
    ChosenHalves.driver = () -> new DriverHalf(new StageProgress(() -> 0));
    writeTo(id -> directory);
  }

  @AfterEach
  void noThreadIsLeft() throws Exception {
    warnings.close();
    Deadline.await(BrokenPartsTest::hasThread, running -> !running);
  }

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
    runUntilOff(EXECUTOR_WARNING);
  }

  @Test
  void aDirectoryThatIsMissing() throws Exception {
    writeTo(id -> directory.resolve("missing"));
    runUntilOff(EXECUTOR_WARNING);
  }

  @Test
  void anExecutorHalfThatCannotStart() throws Exception {
    writeTo(
        id -> {
          throw new NoClassDefFoundError("gone");
        });
    runUntilOff(EXECUTOR_WARNING);
  }

  @Test
  void anAnswerThatIsGarbage() throws Exception {
    AtomicInteger questions = new AtomicInteger();
    ChosenHalves.driver =
        () ->
            new AnsweringDriver() {
              @Override
              public Object receive(Object message) {
                questions.incrementAndGet();
                return "garbage";
              }
            };
    runUntilOff(EXECUTOR_WARNING);
    assertEquals(1, questions.get());
    assertFalse(Files.exists(progress()));
  }

  @Test
  void anAnswerThatIsAnException() throws Exception {
    ChosenHalves.driver =
        () ->
            new AnsweringDriver() {
              @Override
              public Object receive(Object message) {
                throw new IllegalStateException("broken");
              }
            };
    runUntilOff(EXECUTOR_WARNING);
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
  void aListenerThatThrows() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    ChosenHalves.driver =
        () ->
            new DriverHalf(
                new StageProgress(() -> 0) {
                  @Override
                  synchronized void taskSucceeded(int stageId, int partition) {
                    calls.incrementAndGet();
                    throw new NoSuchMethodError("another Spark");
                  }
                });
    runUntilOff(DRIVER_WARNING);
    assertEquals(1, calls.get());
  }

  @Test
  void aDriverHalfThatIsOffEndsTheQuestions() throws Exception {
    AtomicInteger questions = new AtomicInteger();
    ChosenHalves.driver =
        () ->
            new AnsweringDriver() {
              @Override
              public Object receive(Object message) {
                questions.incrementAndGet();
                return DriverHalf.OFF;
              }
            };
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      SparkJobs.runJob(context);
      Deadline.await(questions::get, n -> n == 1);
      Deadline.await(BrokenPartsTest::hasThread, running -> !running);
    }
    assertEquals(List.of(), warnings.messages());
    assertEquals(1, questions.get());
  }

  @Test
  void aSettingThatIsNeitherTrueNorFalse() throws Exception {
    conf.set("spark.elastane.progress.enabled", "perhaps");
    runUntilOff(DRIVER_WARNING);
    assertFalse(Files.exists(progress()));
  }

  @Test
  void aJobThatTurnsItOffHasNoThreadAndNoListener() {
    conf.set("spark.elastane.progress.enabled", "false");
    DriverHalf half =
        new DriverHalf(
            new StageProgress(() -> 0) {
              @Override
              synchronized void stageSubmitted(int id, int attempt, int missing) {
                throw new IllegalStateException("a listener");
              }
            });
    ChosenHalves.driver = () -> half;
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      assertFalse(hasThread());
      SparkJobs.runJob(context);
    }
    assertEquals(List.of(), warnings.messages());
    assertFalse(Files.exists(progress()));
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

  /** Lets executors ask, and has no listener. */
  private abstract static class AnsweringDriver implements DriverPlugin {
    @Override
    public Map<String, String> init(SparkContext context, PluginContext pluginContext) {
      return Map.of(DriverHalf.TELLS, "true");
    }
  }

  private static void writeTo(Function<String, Path> directoryOf) {
    ChosenHalves.executor = () -> new ExecutorHalf(directoryOf, 50);
  }

  private void runUntilOff(String warning) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      SparkJobs.runJob(context);
      Deadline.await(warnings::messages, messages -> !messages.isEmpty());
      Deadline.await(BrokenPartsTest::hasThread, running -> !running);
      SparkJobs.runJob(context);
    }
    assertEquals(List.of(warning), warnings.messages());
  }

  private static boolean hasThread() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("elastane-progress"));
  }

  private void awaitLine(String line) throws Exception {
    Deadline.await(
        () -> Files.exists(progress()) ? Files.readString(progress()) : "", line::equals);
  }

  private Path progress() {
    return directory.resolve(ProgressFile.NAME);
  }
}
