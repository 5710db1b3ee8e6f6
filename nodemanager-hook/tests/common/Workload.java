import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.Arrays;

/** Holds as much memory as it is told to, and prints its heap as its own JVM measures it. */
public final class Workload {
  private static final int MEBIBYTE = 1 << 20;
  private static final int PIECES = 32;
  private static final int ARRAY_HEADER = 16;
  private static byte[][] held = new byte[0][];

  private Workload() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("hold")) {
        hold(Integer.parseInt(words[1]));
        System.out.println("holds " + held.length / PIECES);
      } else {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        System.out.println(heap.getUsed() + " " + heap.getCommitted() + " " + heap.getMax());
      }
    }
  }

  /** Holding less allocates almost nothing, so that it triggers no collection. */
  private static void hold(int mebibytes) {
    int before = held.length / PIECES;
    held = Arrays.copyOf(held, mebibytes * PIECES);
    for (int index = before * PIECES; index < held.length; index++) {
      held[index] = new byte[MEBIBYTE / PIECES - ARRAY_HEADER];
    }
  }
}
