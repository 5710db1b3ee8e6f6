package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SaidOnceTest {
  @Test
  void eachNameIsSaidOnceAndTheOldestAreForgotten() {
    SaidOnce said = new SaidOnce();
    for (int name = 0; name < SaidOnce.REMEMBERED; name++) {
      assertTrue(said.isFirst(name));
    }
    assertFalse(said.isFirst(0));
    assertTrue(said.isFirst("one more"));
    assertFalse(said.isFirst(1));
    assertTrue(said.isFirst(0), "the oldest was forgotten");
  }
}
