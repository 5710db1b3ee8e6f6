package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManagerWebServer;

/** A caller of the ResourceManager's web server, who gives a name as Hadoop's simple login does. */
final class WebClient {
  private final String server;
  private final String user;
  private final HttpClient client = HttpClient.newHttpClient();

  WebClient(TestCluster cluster, String user) {
    int port =
        ResourceManagerWebServer.of(cluster.resourceManager()).getConnectorAddress(0).getPort();
    server = "http://127.0.0.1:" + port;
    this.user = user;
  }

  /** In mode {@code enforce}, with a web server. */
  static Configuration withPage(Path directory) {
    Configuration conf = TestCluster.enforcing(directory);
    enable(conf);
    return conf;
  }

  /** Lets MockRM have a web server. */
  static void enable(Configuration conf) {
    conf.setBoolean("mockrm.webapp.enabled", true);
    conf.set(YarnConfiguration.RM_WEBAPP_ADDRESS, "127.0.0.1:0");
  }

  /** Only callers with a name are let in, and YARN checks what each may see. */
  static void checkCallers(Configuration conf) {
    conf.set("hadoop.http.authentication.type", "simple");
    conf.set("hadoop.http.authentication.simple.anonymous.allowed", "false");
    conf.setBoolean(YarnConfiguration.YARN_ACL_ENABLE, true);
    conf.set(YarnConfiguration.YARN_ADMIN_ACL, "an-administrator");
    conf.set("yarn.scheduler.capacity.root.acl_administer_queue", " ");
    // A configuration among the test classes of Hadoop lets everybody administer this queue.
    conf.set("yarn.scheduler.capacity.root.default.acl_administer_queue", " ");
    conf.set("yarn.scheduler.capacity.root.acl_submit_applications", "*");
    conf.set(
        "hadoop.user.group.static.mapping.overrides",
        "somebody=somebody;a-stranger=a-stranger;an-administrator=an-administrator");
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send("GET", path);
  }

  /** The headers are names, each with its value behind it. */
  HttpResponse<String> send(String method, String path, String... headers)
      throws IOException, InterruptedException {
    String name = (path.contains("?") ? "&" : "?") + "user.name=" + user;
    String uri = server + path + (user == null ? "" : name);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(uri)).method(method, BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  /** The status and the line of a call that is not answered. */
  String refusal(String path) throws IOException, InterruptedException {
    HttpResponse<String> answer = get(path);
    String error = new ObjectMapper().readTree(answer.body()).path("error").asText();
    return answer.statusCode() + " " + error;
  }

  JsonNode json(String path) throws IOException, InterruptedException {
    HttpResponse<String> answer = get(path);
    if (answer.statusCode() != 200) {
      throw new AssertionError(path + ": " + answer.statusCode() + " " + answer.body());
    }
    return new ObjectMapper().readTree(answer.body());
  }
}
