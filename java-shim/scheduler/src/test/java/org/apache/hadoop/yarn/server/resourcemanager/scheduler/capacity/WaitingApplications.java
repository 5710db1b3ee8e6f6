package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.SubmitApplicationRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.elastane.Await;

/**
 * Thousands of applications of any scheduler. They have unmanaged masters, which need no container,
 * and are submitted without waiting for each: MockRM's own helpers wait 10 ms or more a step.
 */
final class WaitingApplications {
  private final MockRM resourceManager;

  WaitingApplications(MockRM resourceManager) {
    this.resourceManager = resourceManager;
  }

  /** Submits one application for each of these queues, and registers their masters. */
  List<MockAM> launch(List<String> queues) throws Exception {
    UserGroupInformation user = UserGroupInformation.createRemoteUser("somebody");
    List<ApplicationId> ids = new ArrayList<>();
    for (String queue : queues) {
      ids.add(user.doAs((PrivilegedExceptionAction<ApplicationId>) () -> submit(queue)));
    }
    resourceManager.drainEvents();
    Map<ApplicationId, RMApp> applications = resourceManager.getRMContext().getRMApps();
    List<MockAM> masters = new ArrayList<>();
    for (ApplicationId id : ids) {
      RMApp application = applications.get(id);
      Await.until(
          id + " is launched",
          () ->
              application.getCurrentAppAttempt() != null
                  && application.getCurrentAppAttempt().getState() == RMAppAttemptState.LAUNCHED);
      MockAM master =
          new MockAM(
              resourceManager.getRMContext(),
              resourceManager.getApplicationMasterService(),
              application.getCurrentAppAttempt().getAppAttemptId());
      master.registerAppAttempt(false);
      masters.add(master);
    }
    resourceManager.drainEvents();
    return masters;
  }

  private ApplicationId submit(String queue) throws Exception {
    ApplicationId id =
        resourceManager
            .getClientRMService()
            .getNewApplication(GetNewApplicationRequest.newInstance())
            .getApplicationId();
    boolean isUnmanaged = true;
    ApplicationSubmissionContext submission =
        ApplicationSubmissionContext.newInstance(
            id,
            "waits",
            "root." + queue,
            Priority.newInstance(0),
            ContainerLaunchContext.newInstance(
                Collections.emptyMap(),
                Collections.emptyMap(),
                Collections.emptyList(),
                Collections.emptyMap(),
                null,
                Collections.emptyMap()),
            isUnmanaged,
            false,
            1,
            Resource.newInstance(256, 1));
    resourceManager
        .getClientRMService()
        .submitApplication(SubmitApplicationRequest.newInstance(submission));
    return id;
  }

  void ask(MockAM master, List<ResourceRequest> asks) {
    allocate(master, asks, Collections.emptyList());
  }

  /** Releases all containers of an application. */
  void release(MockAM master) {
    List<ContainerId> containers = new ArrayList<>();
    for (RMContainer container :
        scheduler().getApplicationAttempt(master.getApplicationAttemptId()).getLiveContainers()) {
      containers.add(container.getContainerId());
    }
    if (!containers.isEmpty()) {
      // A master releases only what it has received.
      allocate(master, Collections.emptyList(), Collections.emptyList());
      allocate(master, Collections.emptyList(), containers);
    }
  }

  private void allocate(MockAM master, List<ResourceRequest> asks, List<ContainerId> releases) {
    ApplicationAttemptId attempt = master.getApplicationAttemptId();
    scheduler()
        .allocate(
            attempt,
            asks,
            Collections.emptyList(),
            releases,
            Collections.emptyList(),
            Collections.emptyList(),
            new ContainerUpdates());
  }

  private AbstractYarnScheduler<?, ?> scheduler() {
    return (AbstractYarnScheduler<?, ?>) resourceManager.getResourceScheduler();
  }
}
