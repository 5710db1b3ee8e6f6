package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.apache.hadoop.http.HtmlQuoting;

/** The HTML page: one document that loads nothing else and runs no script. */
final class ElastanePage {
  static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

  /** Rows of one table, so that a large cluster's page stays small. */
  private static final int MOST_ROWS = 500;

  private static final String NOTHING = "–";
  private static final String STYLE =
      "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;"
          + "color:#1d2530;background:#fff}"
          + "h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .3rem}"
          + "p{margin:.3rem 0;max-width:60rem}a{color:#0b5cad}"
          + ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;margin:.5rem 0}"
          + "th,td{padding:.3rem .7rem;text-align:left;border-bottom:1px solid #d9dfe6;"
          + "white-space:nowrap}"
          + "thead th{color:#4d5a69;font-weight:600;font-size:.85rem;vertical-align:bottom}"
          + "tbody th{font-weight:500}"
          + ".group{text-align:center}.number{text-align:right;font-variant-numeric:tabular-nums}"
          + ".reason{white-space:normal;min-width:20rem}"
          + ".raised{font-weight:600;color:#0a6b3d}.note{color:#4d5a69}"
          + ".warning{background:#fdf0d5;border-left:4px solid #c77700;padding:.4rem .8rem}"
          + "@media(prefers-color-scheme:dark){body{color:#dce3ea;background:#161b21}"
          + "a{color:#7db8f0}th,td{border-color:#333d48}thead th,.note{color:#9aa8b7}"
          + ".raised{color:#5fce95}.warning{background:#3a2e12}}";
  private static final String SIZE_HEADINGS =
      "<th colspan=\"5\" scope=\"colgroup\" class=\"group\">Memory, MB</th>"
          + "<th colspan=\"5\" scope=\"colgroup\" class=\"group\">Virtual cores</th></tr>\n<tr>"
          + headings("Physical", "Bookable", "Booked", "Planned", "Used")
          + headings("Physical", "Bookable", "Booked", "Planned, CPU cores", "Used, CPU cores")
          + "</tr></thead>\n<tbody>\n";

  private final ObjectNode status;
  private final ObjectNode sizes;
  private final ArrayNode nodes;
  private final StringBuilder html = new StringBuilder(16_384);

  /**
   * @param status with the applications that the caller may see
   */
  ElastanePage(ObjectNode status, ObjectNode sizes, ArrayNode nodes) {
    this.status = status;
    this.sizes = sizes;
    this.nodes = nodes;
  }

  String html() {
    html.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
        .append("<title>Elastane</title><style>")
        .append(STYLE)
        .append("</style></head>\n<body>\n");
    head();
    clusterAndLabels();
    queues();
    nodes();
    waiting();
    return html.append("</body></html>\n").toString();
  }

  private void head() {
    html.append("<h1>Elastane</h1>\n<p class=\"note\">");
    if (status.path("in_service").asBoolean()) {
      html.append("Mode ").append(escaped(status.path("mode").asText(NOTHING))).append(" · ");
    }
    html.append("<a href=\"/cluster/scheduler\">YARN's scheduler page</a>")
        .append(" · JSON: <a href=\"/elastane/v1/status\">status</a>")
        .append(", <a href=\"/elastane/v1/sizes\">sizes</a>")
        .append(", <a href=\"/elastane/v1/queues\">queues</a>")
        .append(", <a href=\"/elastane/v1/nodes\">nodes</a>")
        .append(", <a href=\"/elastane/v1/applications\">applications</a>")
        .append(", <a href=\"/elastane/v1/decisions\">decisions</a>")
        .append(", <a href=\"/elastane/v1/openapi.json\">what they have</a></p>\n");
    if (!status.path("in_service").asBoolean()) {
      html.append("<p class=\"warning\">The core is out of service: every node returns to its")
          .append(" physical size, and CapacityScheduler decides alone.</p>\n");
    }
    html.append("<p><b>Bookable</b> is what CapacityScheduler may give away by request on a node:")
        .append(" more than the physical size where what runs there demands less than it")
        .append(" requested.</p>\n<p class=\"note\">Physical is what the nodes registered, booked")
        .append(
            " what containers requested, planned what they are expected to use now, and used what")
        .append(
            " agents measured of them. Planned and used CPU is in CPU cores. YARN's pages show the bookable size as the total.</p>\n");
  }

  private void clusterAndLabels() {
    open("Cluster and node labels", "Nodes of", "Nodes", "Raised", "Reported");
    countedRow("the whole cluster", sizes.path("cluster"));
    for (JsonNode label : sizes.path("labels")) {
      countedRow(label(label), label);
    }
    close();
  }

  private void countedRow(String name, JsonNode entry) {
    row(
        name,
        entry,
        entry.path("nodes").asText(),
        entry.path("nodes_raised").asText(),
        entry.path("nodes_measured").asText());
  }

  private void queues() {
    open("Queues", "Queue", "Label", "Capacity", "Maximum");
    int rows = 0;
    for (JsonNode queue : sizes.path("queues")) {
      if (rows++ < MOST_ROWS) {
        row(
            queue.path("queue").asText(),
            queue,
            label(queue),
            queue.path("capacity_percent").asText() + " %",
            queue.path("maximum_capacity_percent").asText() + " %");
      }
    }
    close();
    html.append("<p class=\"note\">Physical and bookable are the queue's guaranteed capacity.")
        .append(" Used is what agents measured of the containers in the queue.</p>\n");
    cut(rows, "/elastane/v1/queues");
  }

  private void nodes() {
    open("Nodes", "Node", "Label", "Mode", "Raised", "Report");
    int rows = 0;
    for (JsonNode node : nodes) {
      if (rows++ < MOST_ROWS) {
        row(
            node.path("node").asText(),
            node,
            label(node),
            node.path("mode").asText(NOTHING),
            node.path("is_raised").asBoolean() ? "yes" : "no",
            node.path("report_age_ms").isNumber()
                ? seconds(node.path("report_age_ms")) + " ago"
                : NOTHING);
      }
    }
    close();
    cut(rows, "/elastane/v1/nodes");
  }

  private void waiting() {
    html.append("<h2>Waiting applications</h2>\n");
    JsonNode waiting = status.path("waiting");
    int hidden = status.path("waiting_applications").asInt() - waiting.size();
    if (hidden > 0) {
      html.append("<p class=\"note\">").append(hidden).append(" that you may not see.</p>\n");
    }
    if (waiting.isEmpty()) {
      boolean known = status.has("waiting");
      html.append("<p class=\"note\">")
          .append(known ? "None to show." : "Not known: the core gives no status now.")
          .append("</p>\n");
      return;
    }
    html.append("<div class=\"scroll\"><table><thead><tr>");
    for (String heading : new String[] {"Application", "Name", "Queue"}) {
      html.append("<th scope=\"col\">").append(heading).append("</th>");
    }
    html.append("<th scope=\"col\" class=\"number\">Containers</th>")
        .append("<th scope=\"col\" class=\"number\">For</th>")
        .append("<th scope=\"col\" class=\"number\">Planned in</th>")
        .append("<th scope=\"col\">Why</th></tr></thead>\n<tbody>\n");
    int rows = 0;
    for (JsonNode one : waiting) {
      if (rows++ < MOST_ROWS) {
        waitingRow(one);
      }
    }
    close();
    cut(rows, "/elastane/v1/status");
  }

  private void waitingRow(JsonNode one) {
    String id = escaped(one.path("application").asText());
    html.append("<tr><th scope=\"row\"><a href=\"/cluster/app/").append(id).append("\">");
    html.append(id).append("</a></th>");
    cell("", one.path("name").asText());
    cell("", one.path("queue").asText());
    cell("number", grouped(one.path("containers").asLong()));
    cell("number", seconds(one.path("for_ms")));
    JsonNode plannedInMs = one.path("planned_start").path("in_ms");
    cell("number", plannedInMs.isNumber() ? seconds(plannedInMs) : NOTHING);
    cell("reason", one.path("reason").asText());
    html.append("</tr>\n");
  }

  /** Begins a table of sizes. */
  private void open(String title, String... headings) {
    html.append("<h2>").append(title).append("</h2>\n<div class=\"scroll\"><table><thead>\n<tr>");
    for (String heading : headings) {
      html.append("<th rowspan=\"2\" scope=\"col\">").append(heading).append("</th>");
    }
    html.append(SIZE_HEADINGS);
  }

  private void row(String name, JsonNode entry, String... about) {
    html.append("<tr><th scope=\"row\">").append(escaped(name)).append("</th>");
    for (String text : about) {
      cell("", text);
    }
    for (String unit : new String[] {"memory_mb", "vcores"}) {
      long physical = entry.path("physical_" + unit).asLong();
      cell("number", grouped(physical));
      long bookable = entry.path("bookable_" + unit).asLong();
      cell(bookable > physical ? "number raised" : "number", grouped(bookable));
      cell("number", grouped(entry.path("booked_" + unit).asLong()));
      for (String kind : new String[] {"planned_", "used_"}) {
        JsonNode amount = entry.path(kind + (unit.equals("vcores") ? "cpu_cores" : unit));
        cell("number", amount.isNumber() ? inWords(amount) : NOTHING);
      }
    }
    html.append("</tr>\n");
  }

  private void close() {
    html.append("</tbody></table></div>\n");
  }

  private void cell(String style, String text) {
    html.append(style.isEmpty() ? "<td>" : "<td class=\"" + style + "\">")
        .append(escaped(text))
        .append("</td>");
  }

  /** Says which rows are not shown. */
  private void cut(int rows, String path) {
    if (rows > MOST_ROWS) {
      html.append("<p class=\"note\">The first ")
          .append(MOST_ROWS)
          .append(" of ")
          .append(rows)
          .append("; all are in <a href=\"")
          .append(path)
          .append("\">")
          .append(path)
          .append("</a>.</p>\n");
    }
  }

  private static String headings(String... names) {
    StringBuilder headings = new StringBuilder();
    for (String name : names) {
      headings.append("<th scope=\"col\" class=\"number\">").append(name).append("</th>");
    }
    return headings.toString();
  }

  private static String label(JsonNode entry) {
    String label = entry.path("label").asText();
    return label.isEmpty() ? "no label" : label;
  }

  private static String seconds(JsonNode ms) {
    return grouped(ms.asLong() / 1000) + " s";
  }

  /** Whole numbers are of memory, others of CPU cores. */
  private static String inWords(JsonNode amount) {
    return amount.isIntegralNumber() ? grouped(amount.asLong()) : amount.asText();
  }

  private static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String escaped(String text) {
    return HtmlQuoting.quoteHtmlChars(text);
  }
}
