package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;

/** A value in JSON as a gauge. */
final class JsonGauge {
  private JsonGauge() {}

  /**
   * @param value a number, or a boolean, of which true is 1; anything else counts as 0
   */
  static void add(MetricsRecordBuilder builder, MetricsInfo info, JsonNode value) {
    if (value.isFloatingPointNumber()) {
      builder.addGauge(info, value.asDouble());
    } else {
      builder.addGauge(info, value.asLong());
    }
  }
}
