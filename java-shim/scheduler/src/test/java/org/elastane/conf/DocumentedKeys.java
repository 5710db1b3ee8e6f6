package org.elastane.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** The tables of the ResourceManager's keys in the docs. The core's own test has each key there. */
public final class DocumentedKeys {
  private static final String ROW = "| `" + ElastaneConfiguration.SCHEDULER_PREFIX;

  private DocumentedKeys() {}

  /** The cells of each row by its key: nothing, key, default, allowed, meaning. */
  public static Map<String, String[]> rows() throws IOException {
    Map<String, String[]> rows = new TreeMap<>();
    Path docs = Path.of(System.getProperty("user.dir")).resolve("../../docs");
    for (String page : Arrays.asList("configuration.md", "reprovisioning.md")) {
      for (String line : Files.readAllLines(docs.resolve(page))) {
        if (line.startsWith(ROW)) {
          String[] cells = line.split("\\|");
          rows.put(cells[1].trim().replace("`", ""), cells);
        }
      }
    }
    return rows;
  }

  /** Whether the row's meaning says that a refresh does not change its key. */
  public static boolean needsRestart(String[] cells) {
    return cells[4].contains("Needs a restart");
  }
}
