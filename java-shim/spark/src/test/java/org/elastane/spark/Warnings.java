package org.elastane.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** What the plugin logs while this is open. */
final class Warnings extends AbstractAppender implements AutoCloseable {
  private final Logger logger = (Logger) LogManager.getLogger(Guard.class);
  private final List<String> messages = new CopyOnWriteArrayList<>();

  Warnings() {
    super("warnings", null, null, true, Property.EMPTY_ARRAY);
    start();
    logger.addAppender(this);
  }

  List<String> messages() {
    return messages;
  }

  @Override
  public void append(LogEvent event) {
    messages.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
  }

  @Override
  public void close() {
    logger.removeAppender(this);
    stop();
  }
}
