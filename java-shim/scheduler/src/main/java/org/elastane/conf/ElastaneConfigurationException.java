package org.elastane.conf;

/** An invalid value. The message is one line with the key, the value and the allowed values. */
public final class ElastaneConfigurationException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ElastaneConfigurationException(String key, String value, String allowed) {
    super(key + " is '" + value + "', allowed is " + allowed);
  }
}
