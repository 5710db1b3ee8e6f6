package org.elastane.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.ConfigurationProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Elastane's keys in a yarn-site.xml that is read again. */
class SettingsFilesTest {
  private static final String RATIO = "yarn.scheduler.elastane.overcommit.max-ratio";
  private static final String MODE = "yarn.scheduler.elastane.mode";
  private static final String JOURNAL = "yarn.scheduler.elastane.journal.file";

  @TempDir Path directory;
  private Configuration started;
  private SettingsFiles files;

  @BeforeEach
  void start() throws IOException {
    write(MODE, "observe", RATIO, "3");
    started = new Configuration(false);
    started.addResource(Files.newInputStream(file()), "yarn-site.xml");
    started.set("hadoop.tmp.dir", "/data");
    files = new SettingsFiles(provider(), started);
  }

  @Test
  void whatTheFileHasNowCounts() throws IOException {
    write(MODE, "enforce", JOURNAL, "${hadoop.tmp.dir}/journal");

    Configuration fresh = files.read(started);

    assertEquals("enforce", fresh.get(MODE));
    assertEquals("/data/journal", fresh.get(JOURNAL), "variables are resolved");
    assertNull(fresh.get(RATIO), "a key that is gone has its default again");
    assertEquals("3", started.get(RATIO), "the given configuration stays as it is");
  }

  @Test
  void aKeyThatIsGoneStaysGoneWhenHadoopLoadsItsDefaultsAgain() throws IOException {
    Configuration withDefaults = new Configuration();
    withDefaults.addResource(Files.newInputStream(file()), "yarn-site.xml");
    assertEquals("3", withDefaults.get(RATIO));
    files = new SettingsFiles(provider(), withDefaults);
    write(MODE, "enforce");

    Configuration.addDefaultResource("of-another-class.xml");

    assertNull(files.read(new Configuration(false)).get(RATIO));
  }

  @Test
  void hadoopsDefaultsAreThoseOfTheStart() throws IOException {
    write(JOURNAL, "${hadoop.tmp.dir}/journal");
    Configuration withoutDefaults = new Configuration(false);
    withoutDefaults.addResource(Files.newInputStream(file()), "yarn-site.xml");

    assertEquals("/data/journal", files.read(withoutDefaults).get(JOURNAL));
  }

  @Test
  void aFileThatIsNotThereAnyMoreIsNamed() throws IOException {
    Files.delete(file());

    IOException e = assertThrows(IOException.class, () -> files.read(started));

    assertEquals("yarn-site.xml cannot be read", e.getMessage());
  }

  @Test
  void aKeyThatWasNeverInTheFileStays() throws IOException {
    started.set("yarn.scheduler.elastane.policy", "minfrag");
    files = new SettingsFiles(provider(), started);
    write();

    assertEquals("minfrag", files.read(started).get("yarn.scheduler.elastane.policy"));
    assertEquals(
        "minfrag", files.read(new Configuration(false)).get("yarn.scheduler.elastane.policy"));
  }

  @Test
  void aFileThatIsNoXmlIsNamed() throws IOException {
    Files.writeString(file(), "<configuration><property>");

    IOException e = assertThrows(IOException.class, () -> files.read(started));

    assertTrue(e.getMessage().startsWith("yarn-site.xml cannot be read: "), e.getMessage());
  }

  @Test
  void withoutAFileTheConfigurationStays() throws IOException {
    Configuration conf = new Configuration(false);
    conf.set(RATIO, "3");

    assertEquals("3", new SettingsFiles(null, conf).read(conf).get(RATIO));
  }

  private Path file() {
    return directory.resolve("yarn-site.xml");
  }

  private void write(String... keysAndValues) throws IOException {
    StringBuilder xml = new StringBuilder("<configuration>");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      xml.append("<property><name>").append(keysAndValues[i]).append("</name><value>");
      xml.append(keysAndValues[i + 1]).append("</value></property>");
    }
    Files.writeString(file(), xml.append("</configuration>"));
  }

  private ConfigurationProvider provider() {
    return new ConfigurationProvider() {
      @Override
      public InputStream getConfigurationInputStream(Configuration conf, String name)
          throws IOException {
        // As Hadoop's own.
        return Files.exists(file()) ? Files.newInputStream(directory.resolve(name)) : null;
      }

      @Override
      public void initInternal(Configuration conf) {
        // Nothing to open.
      }

      @Override
      public void closeInternal() {
        // Nothing is open.
      }
    };
  }
}
