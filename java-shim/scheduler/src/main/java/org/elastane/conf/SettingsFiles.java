package org.elastane.conf;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.ConfigurationProvider;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * Elastane's keys in yarn-site.xml, read again while the ResourceManager runs. The file comes from
 * where the ResourceManager itself reads it.
 */
public final class SettingsFiles {
  private static final String FILE = YarnConfiguration.YARN_SITE_CONFIGURATION_FILE;

  private final ConfigurationProvider provider;
  private final boolean hadKeys;

  /** What the ResourceManager started with, without Elastane's keys in the file. */
  private final Configuration base;

  /**
   * @param provider null if there is no file to read
   * @param conf what the ResourceManager starts with
   */
  public SettingsFiles(ConfigurationProvider provider, Configuration conf) {
    this.provider = provider;
    // Without resources of its own it loads nothing again, as others do when Hadoop adds defaults.
    base = new Configuration(false);
    boolean anyInFile = false;
    for (Map.Entry<String, String> entry : conf) {
      if (isOurs(entry.getKey()) && isFromFile(conf, entry.getKey())) {
        anyInFile = true;
      } else {
        base.set(entry.getKey(), entry.getValue());
      }
    }
    hadKeys = anyInFile;
  }

  /**
   * The configuration of the start, with Elastane's keys as the file has them now. Keys of other
   * origin change, and stay when they are gone.
   *
   * @param conf what CapacityScheduler is to be set up by: the files as they are now without
   *     Hadoop's defaults or, with a configuration store, the configuration of the start
   * @throws IOException if the file cannot be read
   */
  public Configuration read(Configuration conf) throws IOException {
    Configuration fresh = new Configuration(base);
    for (Map.Entry<String, String> entry : conf) {
      if (isOurs(entry.getKey()) && !isFromFile(conf, entry.getKey())) {
        fresh.set(entry.getKey(), entry.getValue());
      }
    }
    keysInFile(conf).forEach(fresh::set);
    return fresh;
  }

  private static boolean isOurs(String key) {
    return key.startsWith(ElastaneConfiguration.SCHEDULER_PREFIX);
  }

  private static boolean isFromFile(Configuration conf, String key) {
    String[] sources = conf.getPropertySources(key);
    return sources != null && sources.length > 0 && sources[sources.length - 1].endsWith(FILE);
  }

  private Map<String, String> keysInFile(Configuration conf) throws IOException {
    Map<String, String> keys = new TreeMap<>();
    if (provider == null) {
      return keys;
    }
    try (InputStream stream = provider.getConfigurationInputStream(conf, FILE)) {
      if (stream == null) {
        // Hadoop's provider says so of a file that it may not read, too.
        if (hadKeys) {
          throw new IOException(FILE + " cannot be read");
        }
        return keys;
      }
      Configuration file = new Configuration(false);
      file.addResource(stream, FILE);
      for (Map.Entry<String, String> entry : file) {
        if (isOurs(entry.getKey())) {
          keys.put(entry.getKey(), entry.getValue());
        }
      }
    } catch (YarnException | RuntimeException e) {
      // Configuration throws a RuntimeException for a file that is no XML.
      throw new IOException(FILE + " cannot be read: " + e.getMessage(), e);
    }
    return keys;
  }
}
