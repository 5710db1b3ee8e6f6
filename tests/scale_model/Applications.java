import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.PrintStream;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * Runs the applications of a file, each at its time: unmanaged application masters, all in this
 * process, so that nodes run nothing but executors. Each event is one line of JSON on standard
 * output. An executor that ends badly is started again in another container, as Spark does.
 */
final class Applications {
  private static final long HEARTBEAT_MS = 1000;
  private static final long POLL_MS = 100;
  private static final int EXECUTOR_PRIORITY = 1;
  private static final int ATTEMPTS_OF_AN_EXECUTOR = 8;
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, true);

  private Applications() {}

  /** One application of the file. */
  static final class Planned {
    public String name;
    public String user;
    public String queue;
    public List<String> tags;
    public long afterMs;
    public long memoryMb;
    public int vcores;
    /** The shell command of each executor. */
    public List<String> commands;
  }

  /** Writes events; called from many threads. */
  static final class Events {
    private final PrintStream output;
    private final long startedNanos = System.nanoTime();

    Events(PrintStream output) {
      this.output = output;
    }

    long sinceStartMs() {
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
    }

    synchronized void write(String event, int application, Object... fields) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("time_s", sinceStartMs() / 1000.0);
      line.put("event", event);
      line.put("application", application);
      for (int field = 0; field < fields.length; field += 2) {
        line.put((String) fields[field], fields[field + 1]);
      }
      try {
        output.println(JSON.writeValueAsString(line));
      } catch (java.io.IOException impossible) {
        throw new java.io.UncheckedIOException(impossible);
      }
      output.flush();
    }
  }

  /** An application master and what it still has to do. */
  static final class Master implements PrivilegedExceptionAction<Void> {
    private final int index;
    private final Planned planned;
    private final YarnConfiguration conf;
    private final Events events;
    private final ArrayDeque<Integer> toStart = new ArrayDeque<>();
    private final Map<ContainerId, Integer> running = new HashMap<>();
    private final Set<ContainerId> givenBack = new HashSet<>();
    private final int[] attempts;
    private int left;

    Master(int index, Planned planned, YarnConfiguration conf, Events events) {
      this.index = index;
      this.planned = planned;
      this.conf = conf;
      this.events = events;
      this.attempts = new int[planned.commands.size()];
      this.left = planned.commands.size();
      for (int executor = 0; executor < left; executor++) {
        toStart.add(executor);
      }
    }

    /** Runs the application to its end, as the application's own user. */
    @Override
    public Void run() throws Exception {
      // A cache of tokens of its own: masters in one process would take each other's.
      NMTokenCache tokens = new NMTokenCache();
      AMRMClient<ContainerRequest> scheduler = AMRMClient.createAMRMClient();
      NMClient nodes = NMClient.createNMClient();
      scheduler.setNMTokenCache(tokens);
      nodes.setNMTokenCache(tokens);
      scheduler.init(conf);
      nodes.init(conf);
      scheduler.start();
      nodes.start();
      try {
        scheduler.registerApplicationMaster("localhost", 0, "");
        for (int executor = 0; executor < planned.commands.size(); executor++) {
          scheduler.addContainerRequest(request());
        }
        while (left > 0) {
          heartbeat(scheduler, nodes);
          Thread.sleep(HEARTBEAT_MS);
        }
        scheduler.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
      } finally {
        scheduler.stop();
        nodes.stop();
      }
      return null;
    }

    private void heartbeat(AMRMClient<ContainerRequest> scheduler, NMClient nodes)
        throws Exception {
      int all = planned.commands.size();
      AllocateResponse response = scheduler.allocate((float) (all - left) / all);
      for (Container container : response.getAllocatedContainers()) {
        started(container, scheduler, nodes);
      }
      for (ContainerStatus status : response.getCompletedContainersStatuses()) {
        ended(status, scheduler);
      }
    }

    private void started(
        Container container, AMRMClient<ContainerRequest> scheduler, NMClient nodes) {
      ContainerRequest answered = request();
      scheduler.removeContainerRequest(answered);
      Integer executor = toStart.poll();
      if (executor == null) {
        // YARN may allocate one more than was asked for, if the ask changed meanwhile.
        givenBack.add(container.getId());
        scheduler.releaseAssignedContainer(container.getId());
        return;
      }
      running.put(container.getId(), executor);
      attempts[executor]++;
      ContainerLaunchContext launch =
          ContainerLaunchContext.newInstance(
              null,
              null,
              Collections.singletonList(
                  "exec " + planned.commands.get(executor) + " 1>stdout 2>stderr"),
              null,
              null,
              null);
      events.write(
          "started",
          index,
          "executor",
          executor,
          "container",
          container.getId().toString(),
          "node",
          container.getNodeId().toString());
      try {
        nodes.startContainer(container, launch);
      } catch (Exception failure) {
        failure.printStackTrace();
        running.remove(container.getId());
        givenBack.add(container.getId());
        scheduler.releaseAssignedContainer(container.getId());
        again(executor, "not started: " + failure.getMessage(), scheduler);
      }
    }

    private void ended(ContainerStatus status, AMRMClient<ContainerRequest> scheduler) {
      Integer executor = running.remove(status.getContainerId());
      if (executor == null || givenBack.contains(status.getContainerId())) {
        return;
      }
      int exit = status.getExitStatus();
      events.write(
          "ended",
          index,
          "executor",
          executor,
          "container",
          status.getContainerId().toString(),
          "exit_status",
          exit);
      if (exit == ContainerExitStatus.SUCCESS) {
        left--;
      } else {
        again(executor, "exit status " + exit, scheduler);
      }
    }

    private void again(int executor, String why, AMRMClient<ContainerRequest> scheduler) {
      if (attempts[executor] >= ATTEMPTS_OF_AN_EXECUTOR) {
        throw new IllegalStateException(
            planned.name + ": executor " + executor + ": " + why + ", attempt " + attempts[executor]);
      }
      toStart.add(executor);
      scheduler.addContainerRequest(request());
    }

    private ContainerRequest request() {
      return new ContainerRequest(
          Resource.newInstance(planned.memoryMb, planned.vcores),
          null,
          null,
          Priority.newInstance(EXECUTOR_PRIORITY));
    }
  }

  private static void run(int index, Planned planned, YarnConfiguration conf, Events events)
      throws Exception {
    UserGroupInformation user = UserGroupInformation.createRemoteUser(planned.user);
    ApplicationId id = user.doAs((PrivilegedExceptionAction<ApplicationId>) () -> submit(planned, conf));
    events.write("submitted", index, "id", id.toString());
    UserGroupInformation master = UserGroupInformation.createRemoteUser(id.toString());
    Token<AMRMTokenIdentifier> token =
        user.doAs((PrivilegedExceptionAction<Token<AMRMTokenIdentifier>>) () -> token(id, conf));
    master.addToken(token);
    master.doAs(new Master(index, planned, conf, events));
    events.write("finished", index);
  }

  private static ApplicationId submit(Planned planned, YarnConfiguration conf) throws Exception {
    try (YarnClient client = client(conf)) {
      ApplicationSubmissionContext context =
          client.createApplication().getApplicationSubmissionContext();
      context.setApplicationName(planned.name);
      context.setApplicationType("SPARK");
      context.setQueue(planned.queue);
      context.setUnmanagedAM(true);
      context.setApplicationTags(new HashSet<>(planned.tags));
      context.setAMContainerSpec(
          ContainerLaunchContext.newInstance(null, null, null, null, null, null));
      context.setResource(Resource.newInstance(planned.memoryMb, planned.vcores));
      return client.submitApplication(context);
    }
  }

  /** Waits until the attempt is launched; only then is there a token. */
  private static Token<AMRMTokenIdentifier> token(ApplicationId id, YarnConfiguration conf)
      throws Exception {
    try (YarnClient client = client(conf)) {
      while (true) {
        ApplicationReport report = client.getApplicationReport(id);
        YarnApplicationState state = report.getYarnApplicationState();
        if (state == YarnApplicationState.FAILED || state == YarnApplicationState.KILLED) {
          throw new IllegalStateException(id + ": " + state + ": " + report.getDiagnostics());
        }
        Token<AMRMTokenIdentifier> token =
            state == YarnApplicationState.ACCEPTED ? client.getAMRMToken(id) : null;
        if (token != null) {
          return token;
        }
        Thread.sleep(POLL_MS);
      }
    }
  }

  private static YarnClient client(YarnConfiguration conf) {
    YarnClient client = YarnClient.createYarnClient();
    client.init(conf);
    client.start();
    return client;
  }

  /** The file of applications is the only argument. */
  public static void main(String[] arguments) throws Exception {
    Planned[] all = JSON.readValue(new File(arguments[0]), Planned[].class);
    PrintStream output = System.out;
    // Libraries print to standard output too.
    System.setOut(System.err);
    YarnConfiguration conf = new YarnConfiguration();
    ExecutorService pool = Executors.newCachedThreadPool();
    Events events = new Events(output);
    List<java.util.concurrent.Future<?>> started = new ArrayList<>();
    for (int index = 0; index < all.length; index++) {
      Planned planned = all[index];
      Thread.sleep(Math.max(0, planned.afterMs - events.sinceStartMs()));
      int number = index;
      started.add(
          pool.submit(
              () -> {
                try {
                  run(number, planned, conf, events);
                } catch (Throwable failure) {
                  failure.printStackTrace();
                  events.write("failed", number, "reason", String.valueOf(failure));
                }
              }));
    }
    for (java.util.concurrent.Future<?> one : started) {
      one.get();
    }
    // Hadoop's clients leave threads that are no daemons.
    System.exit(0);
  }
}
