package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/** Small jobs on a local master. */
final class SparkJobs {
  private SparkJobs() {}

  static SparkConf conf(String master, Class<?> plugin) {
    return new SparkConf()
        .setMaster(master)
        .setAppName("test")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.plugins.defaultList", plugin.getName());
  }

  /** Two stages, two tasks each. */
  static void runJob(JavaSparkContext context) {
    JavaRDD<Integer> numbers = context.parallelize(List.of(1, 2, 3, 4), 2);
    assertEquals(
        10, numbers.groupBy(n -> n % 2, 2).values().map(SparkJobs::sum).reduce(Integer::sum));
  }

  private static int sum(Iterable<Integer> numbers) {
    int sum = 0;
    for (int n : numbers) {
      sum += n;
    }
    return sum;
  }
}
