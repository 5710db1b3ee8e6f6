package org.elastane.spark;

import java.util.function.Supplier;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** A plugin of the halves that a test chose. With a local master both are in the test's process. */
public final class ChosenHalves implements SparkPlugin {
  static volatile Supplier<DriverPlugin> driver;
  static volatile Supplier<ExecutorPlugin> executor;

  @Override
  public DriverPlugin driverPlugin() {
    return driver.get();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return executor.get();
  }
}
