package org.elastane.conf;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
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

  /** Every key that the file ever had. One that is gone from the file has its default again. */
  private final Set<String> known = new HashSet<>();

  /**
   * Reads the file for the first time.
   *
   * @param provider null if there is no file to read
   * @throws IOException if the file cannot be read
   */
  public SettingsFiles(ConfigurationProvider provider, Configuration conf) throws IOException {
    this.provider = provider;
    known.addAll(keys(conf).keySet());
  }

  /**
   * This configuration with Elastane's keys as the file has them now. Keys that were never in the
   * file stay as they are.
   *
   * @throws IOException if the file cannot be read
   */
  public Configuration read(Configuration conf) throws IOException {
    Map<String, String> now = keys(conf);
    Configuration fresh = new Configuration(conf);
    known.forEach(fresh::unset);
    now.forEach(fresh::set);
    known.addAll(now.keySet());
    return fresh;
  }

  private Map<String, String> keys(Configuration conf) throws IOException {
    Map<String, String> keys = new HashMap<>();
    if (provider == null) {
      return keys;
    }
    try (InputStream stream = provider.getConfigurationInputStream(conf, FILE)) {
      if (stream != null) {
        Configuration file = new Configuration(false);
        file.addResource(stream, FILE);
        for (Map.Entry<String, String> entry : file) {
          if (entry.getKey().startsWith(ElastaneConfiguration.SCHEDULER_PREFIX)) {
            keys.put(entry.getKey(), entry.getValue());
          }
        }
      }
    } catch (YarnException | RuntimeException e) {
      // Configuration throws a RuntimeException for a file that is no XML.
      throw new IOException(FILE + " cannot be read: " + e.getMessage(), e);
    }
    return keys;
  }
}
