package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.elastane.natives.Natives;

/** Ints at a fixed address; the core writes and one thread reads them. */
final class NumberBuffer {
  private final ByteBuffer numbers;
  private final long address;

  NumberBuffer(int capacity) {
    numbers = ByteBuffer.allocateDirect(capacity * Integer.BYTES).order(ByteOrder.nativeOrder());
    address = Natives.addressOf(numbers);
  }

  long address() {
    return address;
  }

  int capacity() {
    return numbers.capacity() / Integer.BYTES;
  }

  int get(int index) {
    return numbers.getInt(index * Integer.BYTES);
  }
}
