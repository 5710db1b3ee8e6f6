import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * An application whose master is this process. It requests one container: on one host only, or, if
 * that is empty, anywhere but on the hosts that follow. Arguments: name, queue, memory in MiB, host,
 * blacklisted hosts.
 */
final class UnmanagedMaster {
  private static final long HEARTBEAT_MS = 500;

  private UnmanagedMaster() {}

  public static void main(String[] arguments) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    UserGroupInformation.setConfiguration(conf);
    YarnClient client = YarnClient.createYarnClient();
    client.init(conf);
    client.start();
    ApplicationId application = submit(client, arguments[0], arguments[1]);
    while (client.getAMRMToken(application) == null) {
      Thread.sleep(HEARTBEAT_MS);
    }
    UserGroupInformation.getCurrentUser().addToken(client.getAMRMToken(application));

    AMRMClient<ContainerRequest> master = AMRMClient.createAMRMClient();
    master.init(conf);
    master.start();
    master.registerApplicationMaster("localhost", 0, "");
    String[] hosts = arguments[3].isEmpty() ? null : new String[] {arguments[3]};
    Resource size = Resource.newInstance(Long.parseLong(arguments[2]), 1);
    master.addContainerRequest(
        new ContainerRequest(size, hosts, null, Priority.newInstance(1), hosts == null));
    master.updateBlacklist(
        Arrays.asList(arguments).subList(4, arguments.length), Collections.emptyList());
    while (true) {
      master.allocate(0);
      Thread.sleep(HEARTBEAT_MS);
    }
  }

  private static ApplicationId submit(YarnClient client, String name, String queue)
      throws Exception {
    ApplicationSubmissionContext context =
        client.createApplication().getApplicationSubmissionContext();
    context.setApplicationName(name);
    context.setQueue(queue);
    context.setUnmanagedAM(true);
    context.setAMContainerSpec(
        ContainerLaunchContext.newInstance(null, null, null, null, null, null));
    context.setResource(Resource.newInstance(256, 1));
    ApplicationId application = client.submitApplication(context);
    EnumSet<YarnApplicationState> submitted =
        EnumSet.of(YarnApplicationState.ACCEPTED, YarnApplicationState.RUNNING);
    while (!submitted.contains(
        client.getApplicationReport(application).getYarnApplicationState())) {
      Thread.sleep(HEARTBEAT_MS);
    }
    return application;
  }
}
