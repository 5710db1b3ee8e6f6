package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A folder of a benchmark, which is removed with all that is in it. */
final class TemporaryFolder implements AutoCloseable {
  private final Path path;

  TemporaryFolder(String prefix) throws IOException {
    path = Files.createTempDirectory(prefix);
  }

  Path resolve(String name) {
    return path.resolve(name);
  }

  /** A thread that still writes or deletes files is no failure; what it writes may stay. */
  @Override
  public void close() throws IOException {
    Files.walkFileTree(path, new Removal());
  }

  private static final class Removal extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException e) throws IOException {
      if (e != null && !(e instanceof NoSuchFileException)) {
        throw e;
      }
      try {
        Files.deleteIfExists(directory);
      } catch (DirectoryNotEmptyException notEmpty) {
        // A file was written meanwhile.
      }
      return FileVisitResult.CONTINUE;
    }
  }
}
