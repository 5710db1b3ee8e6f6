package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.Mode;
import org.elastane.conf.SettingsFiles;
import org.elastane.depository.SharedDepository;
import org.elastane.natives.NativeLibrary;
import org.elastane.natives.Natives;
import org.elastane.usage.UsageServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads Elastane's settings again, and refuses them where one of them is not allowed. */
final class SettingsReader {
  private static final Logger LOG = LoggerFactory.getLogger(SettingsReader.class);

  private final SettingsFiles files;
  private final BooleanSupplier hasCore;
  private final BooleanSupplier virtualCoresCount;
  private final Runnable onRefusal;

  /**
   * @param hasCore whether ports and shared directories are in use, so that their keys count only
   *     after a restart
   */
  SettingsReader(
      SettingsFiles files,
      BooleanSupplier hasCore,
      BooleanSupplier virtualCoresCount,
      Runnable onRefusal) {
    this.files = files;
    this.hasCore = hasCore;
    this.virtualCoresCount = virtualCoresCount;
    this.onRefusal = onRefusal;
  }

  /**
   * The settings that the files have now.
   *
   * @param conf see {@link SettingsFiles#read}
   * @param isFailover whether a standby is about to become active. There, settings that are not
   *     allowed change nothing: a typing mistake must not leave the cluster without a
   *     ResourceManager
   * @return null if the settings are to stay as they are
   * @throws IOException naming the key, the value and what is allowed, or a file that cannot be
   *     read
   */
  Configuration read(Configuration conf, boolean isFailover) throws IOException {
    try {
      Configuration fresh = files.read(conf);
      check(fresh);
      return fresh;
    } catch (IOException | RuntimeException e) {
      onRefusal.run();
      if (isFailover) {
        LOG.error("Elastane's settings stay as they were at the start: {}", e.getMessage());
        return null;
      }
      LOG.error("Elastane's settings and the queues stay as they are: {}", e.getMessage());
      throw new IOException(e.getMessage(), e);
    }
  }

  private void check(Configuration fresh) {
    // As at the start, no other key counts in mode off.
    if (ElastaneConfiguration.mode(fresh) != Mode.OFF) {
      if (!hasCore.getAsBoolean()) {
        UsageServer.check(fresh);
        SharedDepository.check(fresh);
      }
      ElastaneConfiguration.placementOrder(fresh);
      ElastaneConfiguration.observeFile(fresh);
      NativeLibrary.load();
      Natives.check(ElastaneConfiguration.settingsJson(fresh), virtualCoresCount.getAsBoolean());
    }
  }
}
