package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
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
  private final Map<String, String> atStart;

  /** A copy: the ResourceManager may change its own. */
  private Configuration current;

  private volatile boolean isObserveFileThere;
  private volatile Mode mode;

  LiveSettings(
      CoreHandle core,
      CoreGuard guard,
      Enforcement enforcement,
      Rounds rounds,
      Configuration conf) {
    this.core = core;
    this.guard = guard;
    this.enforcement = enforcement;
    this.rounds = rounds;
    atStart = ElastaneConfiguration.settings(conf);
    current = new Configuration(conf);
    lookForObserveFile();
    apply();
  }

  /** The mode in force; {@code observe} while the observe file exists. */
  Mode mode() {
    return mode;
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
      Configuration kept = new Configuration(current);
      kept.set(ElastaneConfiguration.MODE, "observe");
      current = kept;
    } else {
      logChanges(ElastaneConfiguration.settings(current), ElastaneConfiguration.settings(fresh));
      current = new Configuration(fresh);
    }
    lookForObserveFile();
    apply();
  }

  /** Looks whether the observe file exists; true if that changed, and the settings with it. */
  synchronized boolean follow() {
    if (!lookForObserveFile()) {
      return false;
    }
    apply();
    return true;
  }

  private boolean lookForObserveFile() {
    Path file = ElastaneConfiguration.observeFile(current);
    boolean isThere = file != null && Files.exists(file);
    if (isThere == isObserveFileThere) {
      return false;
    }
    isObserveFileThere = isThere;
    if (isThere) {
      LOG.warn("{} exists: Elastane decides nothing until it is removed", file);
    } else {
      LOG.warn("The observe file is gone: Elastane is in mode {} again", modeOf(current));
    }
    return true;
  }

  private void apply() {
    mode = isObserveFileThere ? Mode.OBSERVE : ElastaneConfiguration.mode(current);
    boolean enforce = mode == Mode.ENFORCE;
    if (enforce && ElastaneConfiguration.raisesNoNode(current)) {
      LOG.warn("No node is raised: YARN's reservation system plans with the nodes' sizes");
    }
    Map<String, String> settings = ElastaneConfiguration.settings(current);
    settings.keySet().removeIf(ElastaneConfiguration::isReadAtStartOnly);
    atStart.forEach(
        (key, value) -> {
          if (ElastaneConfiguration.isReadAtStartOnly(key)) {
            settings.put(key, value);
          }
        });
    settings.put(ElastaneConfiguration.MODE, modeName());
    core.setSettings(ElastaneConfiguration.json(settings));
    rounds.setOrder(ElastaneConfiguration.placementOrder(current));
    enforcement.want(enforce);
    guard.run("settings", core::goOnBySettings);
  }

  String modeName() {
    return mode.name().toLowerCase(Locale.ROOT);
  }

  private static String modeOf(Configuration conf) {
    return ElastaneConfiguration.mode(conf).name().toLowerCase(Locale.ROOT);
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
