package org.elastane.node;

/** The root of a container's process tree, and the container's requested memory. */
final class ContainerProcess {
  final long pid;
  final long requestMemoryBytes;

  ContainerProcess(long pid, long requestMemoryBytes) {
    this.pid = pid;
    this.requestMemoryBytes = requestMemoryBytes;
  }
}
