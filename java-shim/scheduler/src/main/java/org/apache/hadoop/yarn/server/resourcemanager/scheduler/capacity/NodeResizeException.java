package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** One node, or more, could not be resized; everything else was done. */
final class NodeResizeException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  NodeResizeException(String message, Throwable cause) {
    super(message, cause);
  }
}
