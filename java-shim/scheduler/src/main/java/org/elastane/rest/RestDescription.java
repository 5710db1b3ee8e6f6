package org.elastane.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * The REST's paths and parameters as {@code openapi.json} describes them. Calls are checked by the
 * description, so that it cannot say anything else than what is done.
 */
public final class RestDescription {
  private static final String FILE = "openapi.json";

  /** What Hadoop's authentication puts into a query. */
  private static final Set<String> OF_AUTHENTICATION =
      new HashSet<>(Arrays.asList("user.name", "doas", "delegation"));

  private final JsonNode description;

  private RestDescription(JsonNode description) {
    this.description = description;
  }

  /** The description that the jar has. */
  public static RestDescription load() {
    try (InputStream file = RestDescription.class.getResourceAsStream(FILE)) {
      return new RestDescription(new ObjectMapper().readTree(file));
    } catch (IOException e) {
      throw new UncheckedIOException("the jar's " + FILE + " cannot be read", e);
    }
  }

  /** The description itself, as JSON. */
  public JsonNode json() {
    return description;
  }

  /**
   * Checks a call.
   *
   * @param path decoded, behind {@code /elastane}
   * @param query the parameters, as a servlet has them
   * @throws RestException naming what is not there or not allowed
   */
  public RestCall call(String path, Map<String, String[]> query) throws RestException {
    Iterator<Map.Entry<String, JsonNode>> paths = description.get("paths").fields();
    while (paths.hasNext()) {
      Map.Entry<String, JsonNode> entry = paths.next();
      Map<String, String> values = new HashMap<>();
      if (matches(entry.getKey(), path, values)) {
        check(path, entry.getValue().at("/get/parameters"), query, values);
        return new RestCall(entry.getKey(), values);
      }
    }
    throw RestException.notThere("there is no /elastane" + path + "; see /elastane/");
  }

  /** Whether a path is of this form; puts what stands for its names into the values. */
  private static boolean matches(String template, String path, Map<String, String> values) {
    String[] names = template.split("/", -1);
    String[] segments = path.split("/", -1);
    if (names.length != segments.length) {
      return false;
    }
    for (int i = 0; i < names.length; i++) {
      if (names[i].startsWith("{") && !segments[i].isEmpty()) {
        values.put(names[i].substring(1, names[i].length() - 1), segments[i]);
      } else if (!names[i].equals(segments[i])) {
        return false;
      }
    }
    return true;
  }

  private void check(
      String path, JsonNode parameters, Map<String, String[]> query, Map<String, String> values)
      throws RestException {
    Set<String> allowed = new HashSet<>();
    StringJoiner names = new StringJoiner(", ").setEmptyValue("none");
    for (JsonNode reference : parameters) {
      JsonNode parameter = resolved(reference);
      String name = parameter.get("name").asText();
      JsonNode schema = parameter.get("schema");
      if (parameter.get("in").asText().equals("query")) {
        allowed.add(name);
        names.add(name);
        String[] given = query.get(name);
        if (given != null && given.length > 1) {
          throw RestException.notAllowed(name + " is given " + given.length + " times");
        }
        if (given != null) {
          values.put(name, given[0]);
        } else if (schema.has("default")) {
          values.put(name, schema.get("default").asText());
        }
      }
      if (values.containsKey(name)) {
        check(name, values.get(name), schema);
      }
    }
    for (String name : query.keySet()) {
      if (!allowed.contains(name) && !OF_AUTHENTICATION.contains(name.toLowerCase(Locale.ROOT))) {
        throw RestException.notAllowed(
            name + " is no parameter of /elastane" + path + "; allowed: " + names);
      }
    }
  }

  private JsonNode resolved(JsonNode parameter) {
    JsonNode reference = parameter.get("$ref");
    return reference == null ? parameter : description.at(reference.asText().substring(1));
  }

  private static void check(String name, String value, JsonNode schema) throws RestException {
    String allowed = null;
    if (schema.get("type").asText().equals("integer")) {
      long least = schema.get("minimum").asLong();
      long most = schema.get("maximum").asLong();
      if (!isBetween(value, least, most)) {
        allowed = "an integer from " + least + " to " + most;
      }
    } else if (schema.has("enum")) {
      StringJoiner choices = new StringJoiner(", ");
      boolean found = false;
      for (JsonNode choice : schema.get("enum")) {
        choices.add(choice.asText());
        found |= choice.asText().equals(value);
      }
      allowed = found ? null : choices.toString();
    } else if (schema.has("pattern") && !value.matches(schema.get("pattern").asText())) {
      allowed = "such as " + schema.at("/examples/0").asText();
    }
    if (allowed != null) {
      throw RestException.notAllowed(name + " is '" + value + "', allowed: " + allowed);
    }
  }

  private static boolean isBetween(String value, long least, long most) {
    try {
      long number = Long.parseLong(value);
      return number >= least && number <= most;
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
