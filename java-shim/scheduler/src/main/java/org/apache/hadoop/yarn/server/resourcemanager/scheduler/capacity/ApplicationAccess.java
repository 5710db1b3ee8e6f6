package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import javax.servlet.http.HttpServletRequest;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationAccessType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.QueueACL;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWSConsts;

/** Which applications a caller may see, by the rule of YARN's own REST ({@code RMWebServices}). */
final class ApplicationAccess {
  private final RMContext context;
  private final UserGroupInformation caller;
  private final String address;
  private final List<String> forwardedFor;

  ApplicationAccess(RMContext context, HttpServletRequest request) {
    this.context = context;
    Principal principal = request.getUserPrincipal();
    caller = principal == null ? null : UserGroupInformation.createRemoteUser(principal.getName());
    address = request.getRemoteAddr();
    String forwarded = request.getHeader(RMWSConsts.FORWARDED_FOR);
    forwardedFor = forwarded == null ? null : Arrays.asList(forwarded.split(","));
  }

  /** Whoever may view the application or administer its queue; without a name, everybody. */
  boolean maySee(RMApp application) {
    return mayView(application.getUser(), application.getApplicationId())
        || context
            .getResourceManager()
            .getQueueACLsManager()
            .checkAccess(caller, QueueACL.ADMINISTER_QUEUE, application, address, forwardedFor);
  }

  /**
   * The ResourceManager does not know the application any more, nor whose it was: administrators
   * see it, and everybody where YARN checks nobody.
   */
  boolean maySeeForgotten(ApplicationId application) {
    return mayView("", application);
  }

  private boolean mayView(String owner, ApplicationId application) {
    return caller == null
        || context
            .getResourceManager()
            .getApplicationACLsManager()
            .checkAccess(caller, ApplicationAccessType.VIEW_APP, owner, application);
  }
}
