package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.SparkPlugin;
import org.junit.jupiter.api.Test;

/** A Spark that lacks what the plugin uses. */
class MissingClassTest {
  @Test
  void withoutSparkListenerTheDriverHalfIsOff() throws Exception {
    DriverPlugin driver = plugin("org.apache.spark.scheduler.SparkListener").driverPlugin();
    SparkConf conf = SparkJobs.conf("local[1]", ElastanePlugin.class);
    conf.remove("spark.plugins.defaultList");
    try (Warnings warnings = new Warnings()) {
      SparkContext context = new SparkContext(conf);
      try {
        assertEquals(Map.of(), driver.init(context, new SilentDriver(conf)));
      } finally {
        context.stop();
      }
      assertEquals(List.of("WARN " + DriverHalf.WHEN_OFF), warnings.messages());
      assertEquals(DriverHalf.OFF, driver.receive(DriverHalf.QUESTION));
    }
  }

  @Test
  void withoutAClassOfAHalfThereIsNoHalf() throws Exception {
    SparkPlugin plugin = plugin("org.elastane.spark.StageProgress");
    try (Warnings warnings = new Warnings()) {
      assertEquals(null, plugin.driverPlugin());
      assertEquals(1, warnings.messages().size());
      assertTrue(plugin.executorPlugin() != null);
    }
  }

  /** The plugin, loaded anew and without one class. */
  private static SparkPlugin plugin(String missing) throws Exception {
    URL classes = ElastanePlugin.class.getProtectionDomain().getCodeSource().getLocation();
    ClassLoader loader =
        new URLClassLoader(new URL[] {classes}, MissingClassTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals(missing)) {
              throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("org.elastane.spark.")) {
              return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
          }
        };
    Class<?> plugin = loader.loadClass(ElastanePlugin.class.getName());
    assertNotSame(ElastanePlugin.class, plugin);
    return (SparkPlugin) plugin.getConstructor().newInstance();
  }
}
