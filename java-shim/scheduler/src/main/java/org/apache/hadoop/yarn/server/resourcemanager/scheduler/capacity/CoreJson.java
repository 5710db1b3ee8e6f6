package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** JSON that the core wrote. */
final class CoreJson {
  private static final ObjectMapper JSON = new ObjectMapper();

  private CoreJson() {}

  /**
   * @param what of the core it is, for the message
   * @throws IllegalStateException if it is no JSON
   */
  static JsonNode read(String what, String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the core's " + what + " is no JSON", e);
    }
  }
}
