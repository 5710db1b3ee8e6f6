package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.http.HttpServer2;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManagerWebServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elastane's page and REST, at {@code /elastane/} of the ResourceManager's web server.
 *
 * <p>The web server's filters apply: who may connect, and a standby's redirect to the active
 * ResourceManager. A failover makes a new scheduler, so each request looks the scheduler up.
 */
public final class ElastaneServlet extends HttpServlet {
  private static final long serialVersionUID = 1;
  private static final Logger LOG = LoggerFactory.getLogger(ElastaneServlet.class);
  private static final String NAME = "elastane";
  private static final String PATHS = "/elastane/*";
  private static final String RESOURCE_MANAGER = "elastane.resource-manager";

  /** Adds the servlet to the ResourceManager's web server, unless it is there. */
  static void register(ResourceManager resourceManager) {
    HttpServer2 server = ResourceManagerWebServer.of(resourceManager);
    if (server == null) {
      LOG.info("The ResourceManager has no web server, so there is no page of Elastane");
    } else if (server.getAttribute(RESOURCE_MANAGER) == null) {
      server.addInternalServlet(NAME, PATHS, ElastaneServlet.class);
      server.setAttribute(RESOURCE_MANAGER, resourceManager);
    }
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Answer answer = answer(request);
    response.setStatus(answer.status);
    if (answer.status == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
      response.setHeader("Allow", "GET");
    }
    response.setContentType(answer.contentType);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Content-Security-Policy", ElastanePage.CONTENT_SECURITY_POLICY);
    byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private Answer answer(HttpServletRequest request) {
    if (!request.getMethod().equals("GET")) {
      return Answer.error(
          HttpServletResponse.SC_METHOD_NOT_ALLOWED,
          request.getMethod() + " is not allowed here; use GET");
    }
    Object resourceManager = getServletContext().getAttribute(RESOURCE_MANAGER);
    if (resourceManager instanceof ResourceManager) {
      Object scheduler = ((ResourceManager) resourceManager).getResourceScheduler();
      if (scheduler instanceof ElastaneScheduler
          && ((ElastaneScheduler) scheduler).link() != null) {
        return answer(request, (ElastaneScheduler) scheduler);
      }
    }
    return Answer.error(
        HttpServletResponse.SC_SERVICE_UNAVAILABLE,
        "no ElastaneScheduler is active in this ResourceManager");
  }

  private static Answer answer(HttpServletRequest request, ElastaneScheduler scheduler) {
    return scheduler
        .link()
        .guard()
        .always(
            "answer " + PATHS,
            Answer.error(
                HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
                "Elastane failed to answer; the ResourceManager's log has the cause"),
            () -> route(request, scheduler));
  }

  private static Answer route(HttpServletRequest request, ElastaneScheduler scheduler) {
    String path = request.getPathInfo() == null ? "/" : request.getPathInfo();
    ObjectNode status = scheduler.link().status().snapshot();
    SizesJson sizes = new SizesJson(scheduler, status);
    switch (path) {
      case "/":
        return Answer.html(
            new ElastanePage(visible(request, scheduler, status), sizes.sizes(), sizes.eachNode())
                .html());
      case "/v1/status":
        return Answer.json(visible(request, scheduler, status));
      case "/v1/sizes":
        return Answer.json(sizes.sizes());
      case "/v1/nodes":
        return Answer.json(nodes(sizes.eachNode()));
      default:
        return Answer.error(
            HttpServletResponse.SC_NOT_FOUND, "there is no /elastane" + path + "; see /elastane/");
    }
  }

  private static ObjectNode visible(
      HttpServletRequest request, ElastaneScheduler scheduler, ObjectNode status) {
    ApplicationAccess access = new ApplicationAccess(scheduler.getRMContext(), request);
    return new VisibleStatus(scheduler.getRMContext(), access::maySee)
        .of(status, scheduler.link().guard().inService());
  }

  private static ObjectNode nodes(ArrayNode nodes) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.set("nodes", nodes);
    return answer;
  }

  /** What goes back to the caller. */
  private static final class Answer {
    final int status;
    final String contentType;
    final String body;

    private Answer(int status, String contentType, String body) {
      this.status = status;
      this.contentType = contentType;
      this.body = body;
    }

    static Answer json(JsonNode body) {
      return new Answer(
          HttpServletResponse.SC_OK, "application/json;charset=utf-8", body.toString());
    }

    static Answer html(String body) {
      return new Answer(HttpServletResponse.SC_OK, "text/html;charset=utf-8", body);
    }

    static Answer error(int status, String message) {
      String body = JsonNodeFactory.instance.objectNode().put("error", message).toString();
      return new Answer(status, "application/json;charset=utf-8", body + "\n");
    }
  }
}
