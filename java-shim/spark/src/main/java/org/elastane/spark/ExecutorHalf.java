package org.elastane.spark;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** Asks the driver for the progress and writes it to the container's directory. */
final class ExecutorHalf implements ExecutorPlugin {
  static final String WHEN_OFF =
      "Elastane's progress is off in this executor; the job is not affected. "
          + ProgressFile.NAME
          + " in its directory is written no more. To start without it, set "
          + DriverHalf.ENABLED
          + "=false";

  private final Guard guard = new Guard(WHEN_OFF);
  private final Function<String, Path> directoryOf;
  private final long intervalMs;
  private volatile Thread thread;

  /**
   * @param directoryOf the directory to write to, by the executor's id, or null to write nothing
   */
  ExecutorHalf(Function<String, Path> directoryOf, long intervalMs) {
    this.directoryOf = directoryOf;
    this.intervalMs = intervalMs;
  }

  @Override
  public void init(PluginContext context, Map<String, String> extraConf) {
    guard.run(
        () -> {
          Path directory = directoryOf.apply(context.executorID());
          if (directory == null || !extraConf.containsKey(DriverHalf.TELLS)) {
            return;
          }
          ProgressFile file = new ProgressFile(directory);
          thread = new Thread(() -> guard.run(() -> follow(context, file)), "elastane-progress");
          thread.setDaemon(true);
          thread.start();
        });
  }

  /** Waits for nothing: a question that is not answered must not hold up the executor's end. */
  @Override
  public void shutdown() {
    guard.close();
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }

  private void follow(PluginContext context, ProgressFile file) throws Exception {
    while (!guard.isOff()) {
      // Waits for spark.rpc.askTimeout at most.
      Object answer = context.ask(DriverHalf.QUESTION);
      if (DriverHalf.OFF.equals(answer)) {
        return;
      }
      file.write(ProgressLine.check(answer));
      Thread.sleep(intervalMs);
    }
  }
}
