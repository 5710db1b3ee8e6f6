package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A folder of a benchmark, which is removed with all that is in it. */
final class TemporaryFolder implements AutoCloseable {
  private final Path path;

  TemporaryFolder(String prefix) throws IOException {
    path = Files.createTempDirectory(prefix);
  }

  Path resolve(String name) {
    return path.resolve(name);
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      files
          .sorted((one, other) -> other.compareTo(one))
          .forEach(
              file -> {
                try {
                  Files.delete(file);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }
}
