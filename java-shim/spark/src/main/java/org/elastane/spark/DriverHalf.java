package org.elastane.spark;

import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** Knows the progress, and answers executors that ask for it. */
final class DriverHalf implements DriverPlugin {
  static final String ENABLED = "spark.elastane.progress.enabled";

  /** Executors get this key if this half runs; without it they do not ask. */
  static final String TELLS = "progress";

  static final String QUESTION = "progress";
  static final String OFF = "off";

  static final String WHEN_OFF =
      "Elastane's progress is off in this driver; the job is not affected. Elastane estimates the"
          + " progress of this application from its use. To start without it, set "
          + ENABLED
          + "=false";

  private final Guard guard = new Guard(WHEN_OFF);
  private final StageProgress progress;

  DriverHalf(StageProgress progress) {
    this.progress = progress;
  }

  @Override
  public Map<String, String> init(SparkContext context, PluginContext pluginContext) {
    return guard.call(
        () -> {
          if (!pluginContext.conf().getBoolean(ENABLED, true)) {
            guard.close();
            return Collections.emptyMap();
          }
          context.addSparkListener(new StageListener(guard, progress));
          return Collections.singletonMap(TELLS, "true");
        },
        Collections.emptyMap());
  }

  /** An answer is given in any case: Spark tells the executor of an exception, not of null. */
  @Override
  public Object receive(Object message) {
    return guard.call(() -> QUESTION.equals(message) ? progress.line() : OFF, OFF);
  }

  @Override
  public void shutdown() {
    guard.close();
  }
}
