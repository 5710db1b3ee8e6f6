package org.elastane.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Tells Elastane how far a Spark application is. To be named in {@code spark.plugins.defaultList}.
 *
 * <p>Spark ends the application when a plugin throws, so neither half lets anything escape.
 */
public final class ElastanePlugin implements SparkPlugin {
  private static final long INTERVAL_MS = 3000;
  private static final long NANOS_IN_MS = 1_000_000;

  /** Spark calls no half that is null. */
  @Override
  public DriverPlugin driverPlugin() {
    return new Guard(DriverHalf.WHEN_OFF)
        .call(() -> new DriverHalf(new StageProgress(() -> System.nanoTime() / NANOS_IN_MS)), null);
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Guard(ExecutorHalf.WHEN_OFF)
        .call(
            () ->
                new ExecutorHalf(
                    executorId -> YarnContainer.directory(System.getenv(), executorId),
                    INTERVAL_MS),
            null);
  }
}
