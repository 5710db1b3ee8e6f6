package org.elastane.node;

/** Where the process tree of a container begins, and what the container asked for. */
final class ContainerProcess {
  final long pid;
  final long requestMemoryBytes;

  ContainerProcess(long pid, long requestMemoryBytes) {
    this.pid = pid;
    this.requestMemoryBytes = requestMemoryBytes;
  }
}
