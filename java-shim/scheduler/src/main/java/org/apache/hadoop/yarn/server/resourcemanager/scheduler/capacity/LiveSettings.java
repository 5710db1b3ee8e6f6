package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.Mode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings in force, and how they change while the ResourceManager runs: when an administrator
 * refreshes the queues, when a standby becomes active, and when the observe file comes or goes.
 * docs/decisions/0038 says why so.
 */
final class LiveSettings {
  private static final Logger LOG = LoggerFactory.getLogger(LiveSettings.class);

  private final CoreHandle core;
  private final CoreGuard guard;
  private final Enforcement enforcement;
  private final Rounds rounds;
  private final CoreStatus status;
  private final Map<String, String> atStart;

  /** Elastane's keys alone: a whole configuration may load files again by itself. */
  private Configuration current;

  private volatile ObserveFile observeFile;
  private volatile boolean isObserveFileThere;
  private volatile Mode mode;
  private volatile boolean enforcesAnywhere;
  private volatile QueueModes queueModes;

  LiveSettings(
      CoreHandle core,
      CoreGuard guard,
      Enforcement enforcement,
      Rounds rounds,
      CoreStatus status,
      Configuration conf) {
    this.core = core;
    this.guard = guard;
    this.enforcement = enforcement;
    this.rounds = rounds;
    this.status = status;
    atStart = ElastaneConfiguration.settings(conf);
    current = ElastaneConfiguration.ours(conf);
    observeFile = new ObserveFile(ElastaneConfiguration.observeFile(current));
    isObserveFileThere = observeFile.isThere(false);
    if (isObserveFileThere) {
      logObserveFile();
    }
    apply();
  }

  /** Whether the observe file exists, whatever the mode. */
  boolean isObserveFileThere() {
    return isObserveFileThere;
  }

  /** Goes on by these settings, which {@link SettingsReader} has checked. */
  synchronized void use(Configuration fresh) {
    if (ElastaneConfiguration.mode(fresh) == Mode.OFF) {
      LOG.warn(
          "{} is 'off': Elastane decides nothing from now on, and is gone after a restart",
          ElastaneConfiguration.MODE);
      current = new Configuration(current);
      ElastaneConfiguration.observeEverywhere(current);
    } else {
      logChanges(ElastaneConfiguration.settings(current), ElastaneConfiguration.settings(fresh));
      current = ElastaneConfiguration.ours(fresh);
    }
    observeFile = new ObserveFile(ElastaneConfiguration.observeFile(current));
    apply();
  }

  /** Looks whether the observe file exists; true if that changed, and the settings with it. */
  boolean follow() {
    // Without the monitor: the file's file system may hang.
    boolean isThere = observeFile.isThere(isObserveFileThere);
    if (isThere == isObserveFileThere) {
      return false;
    }
    synchronized (this) {
      isObserveFileThere = isThere;
      logObserveFile();
      apply();
    }
    return true;
  }

  private void logObserveFile() {
    if (isObserveFileThere) {
      LOG.warn("{} exists: Elastane decides nothing until it is removed", observeFile);
    } else {
      LOG.warn("The observe file is gone: the settings count again");
    }
  }

  /** Tells a core that was opened meanwhile, perhaps by former settings. */
  synchronized void tellCore() {
    guard.run("settings", core::goOnBySettings);
    status.forget();
  }

  private void apply() {
    Configuration inForce = current;
    if (isObserveFileThere) {
      inForce = new Configuration(current);
      ElastaneConfiguration.observeEverywhere(inForce);
    }
    mode = ElastaneConfiguration.mode(inForce);
    queueModes = new QueueModes(ElastaneConfiguration.queueModes(current));
    enforcesAnywhere = ElastaneConfiguration.enforcesAnywhere(inForce);
    if (enforcesAnywhere && ElastaneConfiguration.raisesNoNode(inForce)) {
      LOG.warn("No node is raised: YARN's reservation system plans with the nodes' sizes");
    }
    Map<String, String> settings = ElastaneConfiguration.settings(inForce);
    settings.keySet().removeIf(ElastaneConfiguration::isReadAtStartOnly);
    atStart.forEach(
        (key, value) -> {
          if (ElastaneConfiguration.isReadAtStartOnly(key)) {
            settings.put(key, value);
          }
        });
    core.setSettings(ElastaneConfiguration.json(settings));
    rounds.setOrder(ElastaneConfiguration.placementOrder(current), queueModes);
    enforcement.want(enforcesAnywhere);
    tellCore();
  }

  /** Whether the mode in force is {@code enforce}; it is not while the observe file exists. */
  boolean isEnforcing() {
    return mode == Mode.ENFORCE;
  }

  /** The mode in force of a queue's applications, at nodes that are in enforce if there are any. */
  Mode modeOfQueue(String path) {
    if (isObserveFileThere) {
      return Mode.OBSERVE;
    }
    Mode ofQueue = queueModes.of(path);
    return ofQueue == Mode.ENFORCE && !enforcesAnywhere ? mode : ofQueue;
  }

  private static void logChanges(Map<String, String> before, Map<String, String> now) {
    Map<String, String> all = new TreeMap<>(before);
    all.putAll(now);
    for (String key : all.keySet()) {
      String was = before.get(key);
      String is = now.get(key);
      if (!Objects.equals(was, is)) {
        if (ElastaneConfiguration.isReadAtStartOnly(key)) {
          LOG.warn("{} changes with the next restart", change(key, was, is));
        } else {
          LOG.info("{}", change(key, was, is));
        }
      }
    }
  }

  private static String change(String key, String was, String is) {
    return key + " is " + inWords(is) + ", was " + inWords(was);
  }

  private static String inWords(String value) {
    return value == null ? "the default" : "'" + value + "'";
  }
}
