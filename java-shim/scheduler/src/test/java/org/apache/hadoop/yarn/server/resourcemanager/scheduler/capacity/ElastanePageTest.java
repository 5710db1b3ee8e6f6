package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

class ElastanePageTest {
  private static final String WAITING =
      "{'waiting_applications': 2, 'waiting': ["
          + "{'application': 'application_1_0001', 'containers': 1, 'for_ms': 5000,"
          + " 'planned_start': {'in_ms': 42000}, 'reason': 'a'},"
          + "{'application': 'application_1_0002', 'containers': 1, 'for_ms': 6000,"
          + " 'planned_start': null, 'reason': 'b'}]}";

  @Test
  void aWaitingApplicationHasItsPlannedStartIfThereIsOne() throws Exception {
    String json = WAITING.replace('\'', '"');
    ObjectNode status = (ObjectNode) new ObjectMapper().readTree(json);
    JsonNodeFactory nothing = JsonNodeFactory.instance;

    String page = new ElastanePage(status, nothing.objectNode(), nothing.arrayNode()).html();

    String numbers = "<td class=\"number\">%s</td><td class=\"number\">%s</td>";
    assertTrue(page.contains(String.format(numbers, "5 s", "42 s")), page);
    assertTrue(page.contains(String.format(numbers, "6 s", "–")), page);
  }
}
