package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin as it is installed, with an executor in a process of its own. */
class RealExecutorTest {
  private static final Path WORK = Path.of(System.getenv("SPARK_HOME"), "work");

  @TempDir Path gates;
  @TempDir Path local;

  private final SparkConf conf =
      SparkJobs.conf("local-cluster[1,2,512]", ElastanePlugin.class)
          .set("spark.plugins", ChosenByJob.class.getName())
          .set("spark.executor.memory", "512m")
          .set("spark.executor.extraClassPath", System.getProperty("java.class.path"));

  @Test
  void theFileFollowsTheJobToItsEndBesideThePluginOfTheJob() throws Exception {
    runInContainer();
    Path directory;
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      directory = executorDirectory(context);
      Path file = directory.resolve("elastane.progress");
      JavaFutureAction<Long> job =
          context
              .parallelize(List.of(0, 1, 2, 3), 4)
              .map(new Gate(gates.toString(), "map"))
              .groupBy(n -> n % 2, 2)
              .keys()
              .map(new Gate(gates.toString(), "reduce"))
              .countAsync();
      awaitLine(file, 0, "0.000", "0.500");
      open("map0");
      open("map1");
      awaitLine(file, 0, "0.500", "1.000");
      open("map2");
      open("map3");
      awaitLine(file, 1, "0.000", "1.000");
      open("reduce1");
      awaitLine(file, 1, "0.500", "1.000");
      open("reduce0");
      awaitLine(file, 2, "0.000", "1.000");
      assertEquals(2, job.get());
      assertTrue(Files.exists(directory.resolve(ChosenByJob.FILE)));
    }
    assertTrue(Files.exists(directory.resolve("elastane.progress")));
    assertEquals(0, warnings(directory));
  }

  @Test
  void aFileThatCanNoLongerBeReplacedEndsTheWritingAndNotTheJob() throws Exception {
    runInContainer();
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      Path directory = executorDirectory(context);
      Path file = directory.resolve("elastane.progress");
      Deadline.await(() -> Files.exists(file), there -> there);
      Files.delete(file);
      Files.createDirectories(file.resolve("full"));
      SparkJobs.runJob(context);
      Deadline.await(() -> warnings(directory), count -> count == 1);
      SparkJobs.runJob(context);
      assertEquals(1, warnings(directory));
    }
  }

  @Test
  void outsideAContainerNothingIsWritten() throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      Path directory = executorDirectory(context);
      SparkJobs.runJob(context);
      List<String> threads = context.parallelize(List.of(1), 1).flatMap(n -> threads()).collect();
      assertFalse(threads.contains("elastane-progress"), threads.toString());
      assertFalse(Files.exists(directory.resolve("elastane.progress")));
    }
  }

  /** Lets a task end once its file is there. */
  private record Gate(String directory, String stage)
      implements org.apache.spark.api.java.function.Function<Integer, Integer>, Serializable {
    @Override
    public Integer call(Integer n) throws Exception {
      Deadline.await(() -> Files.exists(Path.of(directory, stage + n)), there -> there);
      return n;
    }
  }

  /** Sets what the NodeManager sets for Spark to know that it is in a container. */
  private void runInContainer() {
    conf.setExecutorEnv("CONTAINER_ID", "container_1_0001_01_000002");
    conf.setExecutorEnv("LOCAL_DIRS", local.toString());
  }

  private void open(String gate) throws IOException {
    Files.createFile(gates.resolve(gate));
  }

  private static void awaitLine(Path file, int stagesEnded, String partEnded, String partBegun)
      throws Exception {
    String line =
        "{\"version\":1,\"stages_ended\":%d,\"since_ms\":0,\"part_ended\":%s,\"part_begun\":%s}\n"
            .formatted(stagesEnded, partEnded, partBegun);
    Deadline.await(
        () -> Files.exists(file) ? Lines.withoutTime(Files.readString(file)) : "", line::equals);
  }

  private static Path executorDirectory(JavaSparkContext context) throws Exception {
    Path directory = WORK.resolve(context.sc().applicationId()).resolve("0");
    Deadline.await(() -> Files.exists(directory.resolve(ChosenByJob.FILE)), there -> there);
    return directory;
  }

  private static long warnings(Path directory) throws IOException {
    try (Stream<String> lines = Files.lines(directory.resolve("stderr"))) {
      return lines.filter(line -> line.contains("WARN " + Guard.class.getName())).count();
    }
  }

  private static java.util.Iterator<String> threads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).iterator();
  }
}
