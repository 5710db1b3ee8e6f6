package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.io.IOUtils;
import org.elastane.rest.RestDescription;

/** The files of the page, which the jar has. They load nothing from elsewhere. */
final class PageFiles {
  /** Nothing but the page's own files runs, whatever an application is called. */
  static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
          + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

  private static final String FOLDER = "page/";
  private static final Pattern NAME =
      Pattern.compile("((?:[A-Za-z0-9_-]+/)?[A-Za-z0-9_-]+(?:\\.[a-z]+)?)\\.(html|js|css)");

  private PageFiles() {}

  /** The text of the file behind {@code /elastane/page/}; null if there is none. */
  static String text(String name) {
    if (!NAME.matcher(name).matches()) {
      return null;
    }
    try (InputStream file =
        RestDescription.class.getResourceAsStream("/org/elastane/" + FOLDER + name)) {
      return file == null ? null : IOUtils.toString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("the jar's " + FOLDER + name + " cannot be read", e);
    }
  }

  /** What a browser has to know of a file that is there. */
  static String contentType(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(name + " is no file of the page");
    }
    String kind = matcher.group(2).equals("js") ? "javascript" : matcher.group(2);
    return "text/" + kind + ";charset=utf-8";
  }
}
