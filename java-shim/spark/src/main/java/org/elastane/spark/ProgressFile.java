package org.elastane.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;

/** {@code elastane.progress} in the container's directory, where the node's agent reads it. */
final class ProgressFile {
  static final String NAME = "elastane.progress";

  private final Path file;
  private final Path temporary;

  ProgressFile(Path directory) {
    this.file = directory.resolve(NAME);
    this.temporary = directory.resolve("." + NAME + ".tmp");
  }

  /**
   * Replaces the file. A reader sees whole lines only, and knows by its time how old the line is.
   */
  void write(String line) throws IOException {
    Files.deleteIfExists(temporary);
    FileAttribute<?> ownerOnly =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    // CREATE_NEW follows no link that the job may have put there.
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            temporary,
            EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            ownerOnly)) {
      ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
