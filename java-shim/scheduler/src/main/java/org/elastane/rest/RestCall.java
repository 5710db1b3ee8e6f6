package org.elastane.rest;

import java.util.Map;

/** A call that the description allows. */
public final class RestCall {
  private final String path;
  private final Map<String, String> values;

  RestCall(String path, Map<String, String> values) {
    this.path = path;
    this.values = values;
  }

  /** The path as the description has it, such as {@code /v1/nodes/{node}}. */
  public String path() {
    return path;
  }

  /** A value from the path or the query, or else the description's default; null without one. */
  public String text(String name) {
    return values.get(name);
  }

  /** A value that the description says is an integer, and which is given or has a default. */
  public int number(String name) {
    return Integer.parseInt(values.get(name));
  }
}
