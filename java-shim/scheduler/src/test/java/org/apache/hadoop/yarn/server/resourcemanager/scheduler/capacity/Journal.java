package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The journal of a {@link TestCluster}, which is complete after the cluster is closed. */
final class Journal {
  static final String FILE = "decisions.jsonl";

  private Journal() {}

  /** By container id, the request priority that the core was told; null for ApplicationMasters. */
  static Map<String, Integer> requestPriorities(Path directory) throws IOException {
    Map<String, Integer> priorities = new TreeMap<>();
    for (String line : Files.readAllLines(directory.resolve(FILE))) {
      JsonNode record = new ObjectMapper().readTree(line);
      if (record.get("kind").asText().equals("placed")) {
        JsonNode priority = record.get("request_priority");
        priorities.put(
            record.get("container").asText(), priority.isNull() ? null : priority.asInt());
      }
    }
    return priorities;
  }
}
