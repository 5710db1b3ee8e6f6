package org.apache.spark.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sun.misc.Signal;

/** Stands for Spark's executor. Arguments: a folder, and whether it handles SIGPWR. */
public final class YarnCoarseGrainedExecutorBackend {
  private YarnCoarseGrainedExecutorBackend() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    if (arguments[1].equals("true")) {
      Signal.handle(new Signal("PWR"), signal -> tell(folder.resolve("told")));
    }
    Files.createFile(folder.resolve("ready"));
    Thread.sleep(600_000);
  }

  private static void tell(Path file) {
    try {
      Files.writeString(file, "x", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
