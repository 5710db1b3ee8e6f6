package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The conditions for a ResourceManager to start. Each test uses its own JVM, since a library stays
 * loaded.
 */
class ModeTest {
  private static final int NO_START = 3;

  @TempDir Path directory;

  @Test
  void offNeedsNoLibraryAndLoadsNone() throws Exception {
    Outcome outcome = start("off", "/nowhere/libelastane.so");

    assertEquals(0, outcome.status, outcome.output);
    assertTrue(outcome.output.contains("allocated 1024, native false"), outcome.output);
  }

  @Test
  void enforceWithALibraryStartsAndLoadsIt() throws Exception {
    Outcome outcome = start("enforce", System.getProperty("elastane.library.path"));

    assertEquals(0, outcome.status, outcome.output);
    assertTrue(outcome.output.contains("allocated 1024, native true"), outcome.output);
  }

  @Test
  void aMissingLibraryRefusesTheStartAndSaysWhereItWasLookedFor() throws Exception {
    Outcome outcome = start("observe", "/nowhere/libelastane.so");

    assertEquals(NO_START, outcome.status, outcome.output);
    assertTrue(outcome.refusal().contains("/nowhere/libelastane.so"), outcome.output);
  }

  @Test
  void aBadValueRefusesTheStartNamingKeyValueAndWhatIsAllowed() throws Exception {
    Outcome outcome =
        start(
            "enforce",
            System.getProperty("elastane.library.path"),
            "yarn.scheduler.elastane.overcommit.max-ratio=much");

    assertEquals(NO_START, outcome.status, outcome.output);
    assertTrue(
        outcome.refusal().contains("yarn.scheduler.elastane.overcommit.max-ratio is 'much'"),
        outcome.output);
    assertTrue(outcome.refusal().contains("1 to 10"), outcome.output);
  }

  @ParameterizedTest
  @CsvSource({
    "yarn.scheduler.elastane.usage.address, nowhere",
    "yarn.scheduler.elastane.usage.handler-count, 0",
  })
  void aBadValueOfTheUsagePortIsFoundOnAStandbyToo(String key, String value) {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, "observe", directory);
    conf.set(key, value);

    // Initialized and not started, as a standby is.
    RuntimeException e = assertThrows(RuntimeException.class, () -> new MockRM(conf));

    assertTrue(e.getMessage().contains(key + " is '" + value + "', allowed is "), e.getMessage());
  }

  @Test
  void offLooksAtNoOtherKey() {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, "off", directory);
    conf.set("yarn.scheduler.elastane.usage.address", "nowhere");
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "much");

    TestCluster.start(conf).close();
  }

  @Test
  void aBadModeRefusesTheStart() throws Exception {
    Outcome outcome = start("on", "/nowhere/libelastane.so");

    assertEquals(NO_START, outcome.status, outcome.output);
    assertTrue(outcome.refusal().contains("off, observe, advise or enforce"), outcome.output);
  }

  private Outcome start(String mode, String library, String... settings) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Arrays.asList("-Xmx512m", "-Delastane.library.path=" + library));
    command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path")));
    command.addAll(Arrays.asList(ResourceManagerOnce.class.getName(), mode, directory.toString()));
    command.addAll(Arrays.asList(settings));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(120, TimeUnit.SECONDS), "the ResourceManager does not end");
      return new Outcome(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    } finally {
      process.destroyForcibly();
    }
  }

  private static final class Outcome {
    final int status;
    final String output;

    Outcome(int status, String output) {
      this.status = status;
      this.output = output;
    }

    /** The line with the reason why the ResourceManager did not start. */
    String refusal() {
      return output
          .lines()
          .filter(line -> line.startsWith("REFUSED "))
          .findFirst()
          .orElse("no line of refusal");
    }
  }

  /** Starts a ResourceManager, places an ApplicationMaster, and prints the result. */
  static final class ResourceManagerOnce {
    private ResourceManagerOnce() {}

    public static void main(String[] arguments) throws Exception {
      Configuration conf =
          TestCluster.configuration(ElastaneScheduler.class, arguments[0], Path.of(arguments[1]));
      for (String setting : Arrays.asList(arguments).subList(2, arguments.length)) {
        String[] keyAndValue = setting.split("=", 2);
        conf.set(keyAndValue[0], keyAndValue[1]);
      }
      try (TestCluster cluster = TestCluster.start(conf)) {
        MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
        cluster.launch("default", node);
        String maps = Files.readString(Path.of("/proc/self/maps"), StandardCharsets.UTF_8);
        System.out.println(
            "allocated " + cluster.allocatedMib(node) + ", native " + maps.contains("libelastane"));
      } catch (RuntimeException e) {
        System.out.println("REFUSED " + e.getMessage());
        System.exit(NO_START);
      }
      System.exit(0);
    }
  }
}
