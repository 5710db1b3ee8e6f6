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

  /** The first {@code count} numbers. */
  int[] toArray(int count) {
    int[] copy = new int[count];
    for (int i = 0; i < count; i++) {
      copy[i] = get(i);
    }
    return copy;
  }

  int get(int index) {
    return numbers.getInt(index * Integer.BYTES);
  }

  /** Writes numbers as the core does. */
  void putForTest(int index, int... written) {
    for (int i = 0; i < written.length; i++) {
      numbers.putInt((index + i) * Integer.BYTES, written[i]);
    }
  }
}
