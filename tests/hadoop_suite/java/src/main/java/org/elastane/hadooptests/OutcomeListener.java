package org.elastane.hadooptests;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Writes each step of the tests as one line of JSON to the file that the system property {@code
 * elastane.hadoop-tests.outcomes} names. JUnit's own reports are written at the end, so a JVM that
 * is killed leaves none.
 */
public final class OutcomeListener implements TestExecutionListener {
  private static final int LONGEST_TRACE = 6000;

  private final ObjectMapper mapper = new ObjectMapper();
  private final Path file = Path.of(System.getProperty("elastane.hadoop-tests.outcomes"));
  private final Map<String, Long> startNs = new ConcurrentHashMap<>();

  @Override
  public void testPlanExecutionStarted(TestPlan plan) {
    List<String> tests = new ArrayList<>();
    plan.getRoots().forEach(root -> collect(plan, root, tests));
    write("planned", Map.of("tests", tests));
  }

  private static void collect(TestPlan plan, TestIdentifier parent, List<String> tests) {
    for (TestIdentifier child : plan.getChildren(parent)) {
      if (child.isTest()) {
        tests.add(child.getUniqueId());
      }
      collect(plan, child, tests);
    }
  }

  @Override
  public void executionStarted(TestIdentifier identifier) {
    if (identifier.isTest()) {
      startNs.put(identifier.getUniqueId(), System.nanoTime());
      write("started", Map.of("id", identifier.getUniqueId()));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier identifier, String reason) {
    write("skipped", Map.of("id", identifier.getUniqueId(), "reason", reason));
  }

  @Override
  public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
    boolean succeeded = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (!identifier.isTest() && succeeded) {
      return;
    }
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", identifier.getUniqueId());
    fields.put("status", result.getStatus().name().toLowerCase(Locale.ROOT));
    Long start = startNs.remove(identifier.getUniqueId());
    fields.put("seconds", start == null ? 0 : (System.nanoTime() - start) / 1e9);
    result
        .getThrowable()
        .ifPresent(
            thrown -> {
              fields.put("error", thrown.toString());
              fields.put("trace", trace(thrown));
            });
    fields.put("counts", Counts.all());
    write("finished", fields);
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    write("ended", Map.of("counts", Counts.all()));
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    String all = text.toString();
    return all.length() <= LONGEST_TRACE ? all : all.substring(0, LONGEST_TRACE);
  }

  private synchronized void write(String kind, Map<String, ?> fields) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("kind", kind);
    line.putAll(fields);
    try {
      Files.writeString(
          file,
          mapper.writeValueAsString(line) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
