package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.junit.jupiter.api.Test;

/** Whatever is broken in the driver, the job succeeds, and the half that fails does no more. */
class BrokenDriverTest extends LocalRun {
  @Test
  void anAnswerThatIsGarbage() throws Exception {
    AtomicInteger questions = new AtomicInteger();
    ChosenHalves.driver =
        () ->
            new AnsweringDriver(
                () -> {
                  questions.incrementAndGet();
                  return "garbage";
                });
    runUntilOff(ExecutorHalf.WHEN_OFF);
    assertEquals(1, questions.get());
    assertFalse(Files.exists(progress()));
  }

  @Test
  void anAnswerThatIsAnException() throws Exception {
    ChosenHalves.driver =
        () ->
            new AnsweringDriver(
                () -> {
                  throw new IllegalStateException("broken");
                });
    runUntilOff(ExecutorHalf.WHEN_OFF);
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
    runUntilOff(DriverHalf.WHEN_OFF);
    assertEquals(1, calls.get());
  }

  @Test
  void aDriverHalfThatIsOffEndsTheQuestions() throws Exception {
    AtomicInteger questions = new AtomicInteger();
    ChosenHalves.driver =
        () ->
            new AnsweringDriver(
                () -> {
                  questions.incrementAndGet();
                  return DriverHalf.OFF;
                });
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      SparkJobs.runJob(context);
      Deadline.await(questions::get, n -> n == 1);
      Deadline.await(LocalRun::hasThread, running -> !running);
    }
    assertEquals(List.of(), warnings.messages());
    assertEquals(1, questions.get());
  }

  @Test
  void aSettingThatIsNeitherTrueNorFalse() throws Exception {
    conf.set("spark.elastane.progress.enabled", "perhaps");
    runUntilOff(DriverHalf.WHEN_OFF);
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

  /** Lets executors ask, and has no listener. */
  private static final class AnsweringDriver implements DriverPlugin {
    private final Supplier<Object> answer;

    AnsweringDriver(Supplier<Object> answer) {
      this.answer = answer;
    }

    @Override
    public Map<String, String> init(SparkContext context, PluginContext pluginContext) {
      return Map.of(DriverHalf.TELLS, "true");
    }

    @Override
    public Object receive(Object message) {
      return answer.get();
    }
  }
}
