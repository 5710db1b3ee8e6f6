package org.elastane.conf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.nio.file.InvalidPathException;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * The configuration keys that Java reads. The core reads and checks all other {@code
 * yarn.scheduler.elastane.*} keys; docs/configuration.md lists all keys.
 *
 * <p>An invalid value throws {@link ElastaneConfigurationException}.
 */
public final class ElastaneConfiguration {
  /** The prefix of the ResourceManager's keys. */
  public static final String SCHEDULER_PREFIX = "yarn.scheduler.elastane.";

  public static final String MODE = SCHEDULER_PREFIX + "mode";
  public static final String ENFORCED_NODES = MODE + ".enforced-nodes";
  public static final String PLACEMENT_ORDER = SCHEDULER_PREFIX + "placement.order";
  public static final String USAGE_ADDRESS = SCHEDULER_PREFIX + "usage.address";
  public static final int DEFAULT_USAGE_PORT = 8045;
  public static final String DEFAULT_USAGE_ADDRESS = "0.0.0.0:" + DEFAULT_USAGE_PORT;
  public static final String USAGE_HANDLER_COUNT = SCHEDULER_PREFIX + "usage.handler-count";
  public static final int DEFAULT_USAGE_HANDLER_COUNT = 4;
  public static final String DEPOSITORY_FILE = SCHEDULER_PREFIX + "depository.file";
  public static final String DEPOSITORY_SHARED = SCHEDULER_PREFIX + "depository.shared";
  public static final String DEPOSITORY_SHARED_EVERY_MS = DEPOSITORY_SHARED + "-every-ms";
  public static final int DEFAULT_DEPOSITORY_SHARED_EVERY_MS = 300_000;
  public static final String MAX_RATIO = SCHEDULER_PREFIX + "overcommit.max-ratio";
  public static final String JOURNAL_FILE = SCHEDULER_PREFIX + "journal.file";
  public static final String OBSERVE_FILE = SCHEDULER_PREFIX + "observe.file";

  /** Prefixes of the keys that are read at the start only: they name files and ports. */
  private static final List<String> AT_START_ONLY =
      Collections.unmodifiableList(
          Arrays.asList(
              USAGE_ADDRESS,
              USAGE_HANDLER_COUNT,
              DEPOSITORY_FILE,
              DEPOSITORY_SHARED,
              JOURNAL_FILE));

  /** The prefix of the NodeManager's keys. */
  public static final String NODE_PREFIX = "yarn.nodemanager.elastane.";

  public static final String AGENT_SOCKET = NODE_PREFIX + "agent.socket";
  public static final String DEFAULT_AGENT_SOCKET = "/run/elastane/agent.sock";
  public static final String AGENT_TIMEOUT_MS = NODE_PREFIX + "agent.timeout-ms";
  public static final int DEFAULT_AGENT_TIMEOUT_MS = 2000;
  public static final String REPORT_INTERVAL_MS = NODE_PREFIX + "report.interval-ms";
  public static final int DEFAULT_REPORT_INTERVAL_MS = 3000;

  private ElastaneConfiguration() {}

  public static Mode mode(Configuration conf) {
    String value = conf.getTrimmed(MODE, "observe");
    Mode mode = modeNamed(value);
    if (mode == null) {
      throw new ElastaneConfigurationException(MODE, value, "off, observe, advise or enforce");
    }
    return mode;
  }

  /** Whether Elastane decides on any node at all. */
  public static boolean enforcesAnywhere(Configuration conf) {
    return mode(conf) == Mode.ENFORCE
        || !conf.getTrimmed(ENFORCED_NODES, "").isEmpty()
        || conf.getPropsWithPrefix(MODE + ".label.").containsValue("enforce");
  }

  /** The modes of queues, by their paths; the core checks them. */
  public static Map<String, Mode> queueModes(Configuration conf) {
    Map<String, Mode> modes = new TreeMap<>();
    conf.getPropsWithPrefix(MODE + ".queue.")
        .forEach((path, value) -> modes.put(path, modeNamed(value.trim())));
    return modes;
  }

  /** The mode with this name; null if there is none. */
  private static Mode modeNamed(String name) {
    for (Mode mode : Mode.values()) {
      if (mode.name().toLowerCase(Locale.ROOT).equals(name)) {
        return mode;
      }
    }
    return null;
  }

  /** Makes the mode {@code observe} on every node. */
  public static void observeEverywhere(Configuration conf) {
    conf.getPropsWithPrefix(MODE + ".").keySet().forEach(rest -> conf.unset(MODE + "." + rest));
    conf.set(MODE, "observe");
  }

  public static PlacementOrder placementOrder(Configuration conf) {
    String value = conf.getTrimmed(PLACEMENT_ORDER, "elastane");
    for (PlacementOrder order : PlacementOrder.values()) {
      if (order.name().toLowerCase(Locale.ROOT).equals(value)) {
        return order;
      }
    }
    throw new ElastaneConfigurationException(PLACEMENT_ORDER, value, "elastane or queue");
  }

  /** The file that keeps Elastane from deciding while it exists; null for none. */
  public static java.nio.file.Path observeFile(Configuration conf) {
    String value = settings(conf).get(OBSERVE_FILE);
    if (value.isEmpty()) {
      return null;
    }
    try {
      java.nio.file.Path file = Paths.get(value);
      if (file.isAbsolute() || conf.get(OBSERVE_FILE) == null) {
        return file;
      }
    } catch (InvalidPathException e) {
      // reported below, as any other invalid value
    }
    throw new ElastaneConfigurationException(
        OBSERVE_FILE, value, "the absolute path of a file, or empty");
  }

  /** Whether a change of this key needs a restart. */
  public static boolean isReadAtStartOnly(String key) {
    return AT_START_ONLY.stream().anyMatch(key::startsWith);
  }

  public static int usageHandlerCount(Configuration conf) {
    return intWithin(conf, USAGE_HANDLER_COUNT, DEFAULT_USAGE_HANDLER_COUNT, 1, 1000);
  }

  /**
   * The directory in which ResourceManagers share their depositories; null for none. Qualified with
   * its file system, as FileContext requires.
   */
  public static Path depositoryShared(Configuration conf) {
    String value = conf.getTrimmed(DEPOSITORY_SHARED, "");
    if (value.isEmpty()) {
      return null;
    }
    try {
      Path directory = new Path(value);
      if (directory.isAbsolute()) {
        String scheme = directory.toUri().getScheme();
        URI byDefault = FileSystem.getDefaultUri(conf);
        boolean isThere = scheme == null || scheme.equals(byDefault.getScheme());
        return isThere ? directory.makeQualified(byDefault, null) : directory;
      }
    } catch (IllegalArgumentException e) {
      // reported below, as any other invalid value
    }
    throw new ElastaneConfigurationException(
        DEPOSITORY_SHARED, value, "an absolute directory, such as hdfs:///elastane, or empty");
  }

  public static int depositorySharedEveryMs(Configuration conf) {
    return intWithin(
        conf, DEPOSITORY_SHARED_EVERY_MS, DEFAULT_DEPOSITORY_SHARED_EVERY_MS, 10_000, 86_400_000);
  }

  /**
   * What this ResourceManager's copy is called among those that share: its id, or a fixed name
   * without high availability. In a federation ids repeat, and the sub-cluster's id goes first.
   */
  public static String depositoryCopyName(Configuration conf) {
    String id = HAUtil.isHAEnabled(conf) ? HAUtil.getRMHAId(conf) : "resourcemanager";
    boolean isFederation =
        conf.getBoolean(
            YarnConfiguration.FEDERATION_ENABLED, YarnConfiguration.DEFAULT_FEDERATION_ENABLED);
    return isFederation ? YarnConfiguration.getClusterId(conf) + "-" + id : id;
  }

  public static String agentSocket(Configuration conf) {
    String value = conf.getTrimmed(AGENT_SOCKET, DEFAULT_AGENT_SOCKET);
    if (!value.startsWith("/")) {
      throw new ElastaneConfigurationException(AGENT_SOCKET, value, "an absolute path");
    }
    return value;
  }

  public static int agentTimeoutMs(Configuration conf) {
    return intWithin(conf, AGENT_TIMEOUT_MS, DEFAULT_AGENT_TIMEOUT_MS, 100, 10_000);
  }

  public static int reportIntervalMs(Configuration conf) {
    return intWithin(conf, REPORT_INTERVAL_MS, DEFAULT_REPORT_INTERVAL_MS, 1000, 60_000);
  }

  /**
   * The ResourceManager's keys that are set, with variables resolved, and the paths of files, whose
   * defaults depend on Hadoop's configuration.
   */
  public static Map<String, String> settings(Configuration conf) {
    Map<String, String> settings = new TreeMap<>();
    String directory = conf.get("hadoop.tmp.dir") + "/elastane/";
    settings.put(DEPOSITORY_FILE, directory + "depository.sqlite");
    settings.put(JOURNAL_FILE, directory + "decisions.jsonl");
    settings.put(OBSERVE_FILE, directory + "observe");
    for (Map.Entry<String, String> entry : conf.getPropsWithPrefix(SCHEDULER_PREFIX).entrySet()) {
      settings.put(SCHEDULER_PREFIX + entry.getKey(), entry.getValue().trim());
    }
    if (raisesNoNode(conf)) {
      settings.keySet().removeIf(key -> key.startsWith(MAX_RATIO + "."));
      settings.put(MAX_RATIO, "1.0");
    }
    return settings;
  }

  /** The {@link #settings} and what they depend on, as a configuration that loads no file. */
  public static Configuration ours(Configuration conf) {
    Configuration ours = new Configuration(false);
    settings(conf).forEach(ours::set);
    if (conf.get(OBSERVE_FILE) == null) {
      ours.unset(OBSERVE_FILE);
    }
    ours.set("hadoop.tmp.dir", conf.get("hadoop.tmp.dir", ""));
    ours.setBoolean(YarnConfiguration.RM_RESERVATION_SYSTEM_ENABLE, raisesNoNode(conf));
    return ours;
  }

  /** The settings for {@code Natives.open}, as one JSON object of strings. */
  public static String settingsJson(Configuration conf) {
    return json(settings(conf));
  }

  public static String json(Map<String, String> settings) {
    try {
      return new ObjectMapper().writeValueAsString(settings);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a map of strings is always JSON", e);
    }
  }

  /**
   * Whether no node may be raised, whatever the ceiling: reservations of YARN's reservation system
   * are parts of the nodes' sizes, made in advance.
   */
  public static boolean raisesNoNode(Configuration conf) {
    return conf.getBoolean(
        YarnConfiguration.RM_RESERVATION_SYSTEM_ENABLE,
        YarnConfiguration.DEFAULT_RM_RESERVATION_SYSTEM_ENABLE);
  }

  private static int intWithin(Configuration conf, String key, int byDefault, int least, int most) {
    String value = conf.getTrimmed(key, Integer.toString(byDefault));
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below, as any other invalid value
    }
    throw new ElastaneConfigurationException(
        key, value, "a whole number from " + least + " to " + most);
  }
}
