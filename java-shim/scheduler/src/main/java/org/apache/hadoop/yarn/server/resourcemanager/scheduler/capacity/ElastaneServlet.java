package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.http.HttpServer2;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManagerWebServer;
import org.elastane.rest.RestDescription;
import org.elastane.rest.RestException;
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
  private static final String PAGE = "/page/";
  private static final String RESOURCE_MANAGER = "elastane.resource-manager";
  private static final RestDescription REST = RestDescription.load();

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
    if (request.getPathInfo() == null) {
      // The page's files are named relative to the slash; so is this, for a proxy with a prefix.
      response.setStatus(HttpServletResponse.SC_FOUND);
      response.setHeader("Location", NAME + "/");
      return;
    }
    Answer answer = answer(request);
    response.setStatus(answer.status);
    if (answer.status == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
      response.setHeader("Allow", "GET");
    }
    response.setContentType(answer.contentType);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Content-Security-Policy", PageFiles.CONTENT_SECURITY_POLICY);
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
    String path = request.getPathInfo();
    if (path.equals("/v1/openapi.json")) {
      return Answer.json(REST.json());
    }
    RMContext context = scheduler.getRMContext();
    Visibility visibility = new Visibility(context, new ApplicationAccess(context, request));
    RestAnswers answers = new RestAnswers(scheduler, visibility);
    String file = path.equals("/") ? "index.html" : path;
    if (path.startsWith(PAGE)) {
      file = path.substring(PAGE.length());
    }
    String text = PageFiles.text(file);
    if (text != null) {
      return new Answer(HttpServletResponse.SC_OK, PageFiles.contentType(file), text);
    }
    try {
      return Answer.json(answers.answer(REST.call(path, request.getParameterMap())));
    } catch (RestException e) {
      return Answer.error(e.status(), e.getMessage());
    }
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

    static Answer error(int status, String message) {
      String body = JsonNodeFactory.instance.objectNode().put("error", message).toString();
      return new Answer(status, "application/json;charset=utf-8", body + "\n");
    }
  }
}
