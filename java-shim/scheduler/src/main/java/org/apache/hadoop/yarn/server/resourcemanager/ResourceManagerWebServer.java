package org.apache.hadoop.yarn.server.resourcemanager;

import org.apache.hadoop.http.HttpServer2;
import org.apache.hadoop.yarn.webapp.WebApp;

/** Finds the web server of a ResourceManager, which only this package may ask for. */
public final class ResourceManagerWebServer {
  private ResourceManagerWebServer() {}

  /** Null for a ResourceManager that serves no web pages. */
  public static HttpServer2 of(ResourceManager resourceManager) {
    WebApp webApp = resourceManager.getWebapp();
    return webApp == null ? null : webApp.httpServer();
  }
}
