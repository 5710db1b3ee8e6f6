package org.elastane.conf;

/** A value of ours that is not allowed; the message is one line: key, value, what is allowed. */
public final class ElastaneConfigurationException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ElastaneConfigurationException(String key, String value, String allowed) {
    super(key + " is '" + value + "', allowed is " + allowed);
  }
}
