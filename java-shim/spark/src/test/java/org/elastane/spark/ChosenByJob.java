package org.elastane.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/** A plugin of the job's own. Leaves a file in the directory of its executor. */
public final class ChosenByJob implements SparkPlugin {
  static final String FILE = "own-plugin";

  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      @Override
      public void init(PluginContext context, Map<String, String> extraConf) {
        try {
          Files.createFile(Path.of(FILE));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }
}
