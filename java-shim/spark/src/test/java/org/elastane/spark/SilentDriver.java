package org.elastane.spark;

import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;

/** The context of a half whose questions the driver never answers. */
final class SilentDriver implements PluginContext {
  private final SparkConf conf;
  private final CountDownLatch asked = new CountDownLatch(1);

  SilentDriver(SparkConf conf) {
    this.conf = conf;
  }

  void awaitQuestion() throws InterruptedException {
    asked.await();
  }

  @Override
  public Object ask(Object message) throws InterruptedException {
    asked.countDown();
    Thread.sleep(Long.MAX_VALUE);
    return null;
  }

  @Override
  public SparkConf conf() {
    return conf;
  }

  @Override
  public String executorID() {
    return "driver";
  }

  @Override
  public MetricRegistry metricRegistry() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String hostname() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Map<String, ResourceInformation> resources() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void send(Object message) {
    throw new UnsupportedOperationException();
  }
}
