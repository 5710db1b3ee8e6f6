package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.MoveApplicationAcrossQueuesRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeResourceUpdateEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * One operation after another on a cluster, drawn from a seed. Every draw depends on the seed and
 * on what the ResourceManager shows, so two clusters with the same decisions get the same
 * operations.
 */
final class RandomOperations {
  private static final int MOST_APPLICATIONS = 20;

  /** What containers need of their requests; more than 100 stands for an unknown demand. */
  private static final int[] PERCENT_OF_REQUEST = {10, 25, 25, 25, 50, 75, 100, 125};

  private static final int NO_TIME_OUT = -1;

  private final Random random;
  private final Configuration conf;
  private final ElastanesPart elastane;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final MasterOperations masterOperations;
  private final Map<ApplicationId, MockAM> masters = new LinkedHashMap<>();
  private final List<ApplicationId> applications = new ArrayList<>();
  private TestCluster cluster;
  private int stepsUntilRefresh = Integer.MAX_VALUE;
  private Placements placements = Placements.NOT_CHECKED;

  /** Told before and after each heartbeat of a node, where containers are placed. */
  interface Placements {
    Placements NOT_CHECKED =
        new Placements() {
          @Override
          public void before() {}

          @Override
          public void after() {}
        };

    void before();

    void after();
  }

  RandomOperations(TestCluster cluster, Configuration conf, long seed, ElastanesPart elastane)
      throws Exception {
    this.cluster = cluster;
    this.conf = conf;
    this.elastane = elastane;
    random = new Random(seed);
    int[][] sizes = {{8192, 8}, {4096, 8}, {8192, 16}, {16384, 8}};
    for (int[] size : sizes) {
      nodes.add(new SimulatedNode("127.0.0." + (nodes.size() + 1) + ":1234", size[0], size[1]));
    }
    for (SimulatedNode node : nodes) {
      node.register(cluster);
      elastane.report(node);
    }
    masterOperations = new MasterOperations(random, nodes);
  }

  void check(Placements checks) {
    placements = checks;
  }

  /** Does one operation, until nothing is left to do of it; describes it. */
  String step() throws Exception {
    String done = operate(random.nextInt(1000));
    cluster.resourceManager().drainEvents();
    launchMasters();
    if (--stepsUntilRefresh <= 0) {
      done += ", " + refresh();
    }
    return done;
  }

  private String operate(int drawn) throws Exception {
    if (drawn < 25) {
      elastane.secondPasses();
      return "a second passes";
    } else if (drawn < 350) {
      return heartbeat(any(nodes));
    } else if (drawn < 420) {
      for (SimulatedNode node : nodes) {
        heartbeat(node);
      }
      return "heartbeats of all";
    } else if (drawn < 480) {
      return submit();
    } else if (drawn < 490) {
      return kill();
    } else if (drawn < 510) {
      return finish();
    } else if (drawn < 512) {
      return lose();
    } else if (drawn < 520) {
      return returns();
    } else if (drawn < 523) {
      return resize();
    } else if (drawn < 535) {
      SimulatedNode node = any(nodes);
      node.silent = drawn < 525;
      return node + (node.silent ? " is silent" : " reports");
    } else if (drawn < 540) {
      return refresh();
    } else if (drawn < 541) {
      elastane.failCore();
      stepsUntilRefresh = random.nextInt(50);
      return "the core fails";
    }
    List<MockAM> running = running();
    if (running.isEmpty()) {
      return submit();
    }
    MockAM master = any(running);
    String done =
        drawn < 985
            ? masterOperations.operate(cluster.capacityScheduler(), master, drawn)
            : move(master.getApplicationAttemptId().getApplicationId());
    return master.getApplicationAttemptId() + " " + done;
  }

  private String move(ApplicationId id) throws Exception {
    String queue = any(Arrays.asList(RandomCluster.QUEUES));
    if (application(id).getQueue().endsWith(queue)) {
      // CapacityScheduler forgets what the user uses.
      return "stays in " + queue;
    }
    cluster
        .resourceManager()
        .getClientRMService()
        .moveApplicationAcrossQueues(MoveApplicationAcrossQueuesRequest.newInstance(id, queue));
    return "moves to " + queue;
  }

  private String heartbeat(SimulatedNode node) throws Exception {
    if (node.isLost()) {
      return node + " is lost";
    }
    if (!node.silent) {
      elastane.report(node);
    }
    placements.before();
    node.heartbeat(cluster, random);
    placements.after();
    return "heartbeat of " + node;
  }

  private String submit() throws Exception {
    if (applications.size() >= MOST_APPLICATIONS) {
      return finish();
    }
    String queue = any(Arrays.asList(RandomCluster.QUEUES));
    String user = any(Arrays.asList(RandomCluster.USERS));
    RMApp application = submit(cluster, queue, user, random.nextInt(3) == 0 ? 512 : 1024);
    applications.add(application.getApplicationId());
    return "submits " + application.getApplicationId() + " of " + user + " to " + queue;
  }

  static RMApp submit(TestCluster cluster, String queue, String user, int masterMib)
      throws Exception {
    RMApp application =
        MockRMAppSubmitter.submit(
            cluster.resourceManager(),
            MockRMAppSubmissionData.Builder.createWithMemory(masterMib, cluster.resourceManager())
                .withAppName("an application")
                .withUser(user)
                .withQueue(queue)
                .withMaxAppAttempts(4)
                .withUnmanagedAM(false)
                .build());
    cluster.resourceManager().drainEvents();
    return application;
  }

  private String kill() throws Exception {
    if (applications.isEmpty()) {
      return submit();
    }
    ApplicationId application = any(applications);
    cluster.resourceManager().killApp(application);
    return "kills " + application;
  }

  private String finish() throws Exception {
    List<MockAM> running = running();
    if (running.isEmpty()) {
      return "nothing to finish";
    }
    MockAM master = any(running);
    RMAppAttempt attempt = attempt(master.getApplicationAttemptId().getApplicationId());
    master.unregisterAppAttempt();
    SimulatedNode.end(nodes, attempt.getMasterContainer());
    return "finishes " + master.getApplicationAttemptId();
  }

  private String lose() throws Exception {
    SimulatedNode node = any(nodes);
    if (node.isLost() || nodes.stream().filter(any -> !any.isLost()).count() == 1) {
      return "no loss";
    }
    node.lose(cluster);
    return node + " is lost";
  }

  private String returns() throws Exception {
    for (SimulatedNode node : nodes) {
      if (node.isLost()) {
        node.register(cluster);
        return node + " returns";
      }
    }
    return "no return";
  }

  private String resize() {
    SimulatedNode node = any(nodes);
    int percent = 50 + 25 * random.nextInt(5);
    int timeOutMs = random.nextInt(3) == 0 ? 0 : NO_TIME_OUT;
    if (node.isLost()) {
      return "no resize";
    }
    Resource size =
        Resource.newInstance(
            node.memoryMib() * percent / 100, Math.max(1, node.virtualCores() * percent / 100));
    cluster
        .resourceManager()
        .getRMContext()
        .getDispatcher()
        .getEventHandler()
        .handle(
            new RMNodeResourceUpdateEvent(
                node.nodeManager().getNodeId(), ResourceOption.newInstance(size, timeOutMs)));
    return node + " is resized to " + size + ", time-out " + timeOutMs;
  }

  /** As {@code yarn rmadmin -refreshQueues}. */
  private String refresh() throws Exception {
    stepsUntilRefresh = Integer.MAX_VALUE;
    int maximum = 50 + 10 * random.nextInt(2);
    conf.set("yarn.scheduler.capacity.root.a.maximum-capacity", Integer.toString(maximum));
    cluster.capacityScheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    elastane.refreshed();
    return "refresh: at most " + maximum + " % for a";
  }

  /** Masters that got a container register, and applications that ended are forgotten. */
  private void launchMasters() throws Exception {
    for (ApplicationId id : new ArrayList<>(applications)) {
      if (hasEnded(id)) {
        applications.remove(id);
        masters.remove(id);
        continue;
      }
      RMAppAttempt attempt = attempt(id);
      if (attempt != null && attempt.getAppAttemptState() == RMAppAttemptState.ALLOCATED) {
        MockRM resourceManager = cluster.resourceManager();
        MockAM master = resourceManager.sendAMLaunched(attempt.getAppAttemptId());
        master.registerAppAttempt();
        masters.put(id, master);
        int percent = PERCENT_OF_REQUEST[random.nextInt(PERCENT_OF_REQUEST.length)];
        elastane.foresee(master, percent);
      }
    }
    cluster.resourceManager().drainEvents();
  }

  /** The next ResourceManager is active: nodes and masters register there. */
  void failOver(TestCluster next, CapacityScheduler former) throws Exception {
    applications.removeIf(this::hasEnded);
    cluster = next;
    for (SimulatedNode node : nodes) {
      if (!node.isLost()) {
        node.register(next, former);
        elastane.report(node);
      }
    }
    for (ApplicationId id : new ArrayList<>(applications)) {
      RMAppAttempt attempt = attempt(id);
      MockAM master = masters.get(id);
      boolean waits = attempt != null && attempt.getAppAttemptState() == RMAppAttemptState.LAUNCHED;
      if (waits
          && master != null
          && master.getApplicationAttemptId().equals(attempt.getAppAttemptId())
          && next.capacityScheduler().getRMContainer(attempt.getMasterContainer().getId())
              != null) {
        master.setAMRMProtocol(
            next.resourceManager().getApplicationMasterService(),
            next.resourceManager().getRMContext());
        master.registerAppAttempt();
        assertKept(former, master);
        elastane.foresee(master, 50);
      } else if (waits) {
        // Its master was never started, so nobody registers.
        next.resourceManager().killApp(id);
      }
    }
    next.resourceManager().drainEvents();
    launchMasters();
  }

  /** What ran for an ApplicationMaster runs for it. */
  private void assertKept(CapacityScheduler former, MockAM master) {
    FiCaSchedulerApp attempt = former.getApplicationAttempt(master.getApplicationAttemptId());
    for (RMContainer container : attempt.getLiveContainers()) {
      boolean ran = nodes.stream().anyMatch(node -> node.runs(container.getContainerId()));
      assertTrue(
          !ran || cluster.capacityScheduler().getRMContainer(container.getContainerId()) != null,
          container + " was lost when another ResourceManager took over");
    }
  }

  private List<MockAM> running() {
    List<MockAM> running = new ArrayList<>();
    for (MockAM master : masters.values()) {
      RMAppAttempt attempt = attempt(master.getApplicationAttemptId().getApplicationId());
      if (attempt != null
          && attempt.getAppAttemptId().equals(master.getApplicationAttemptId())
          && attempt.getAppAttemptState() == RMAppAttemptState.RUNNING) {
        running.add(master);
      }
    }
    return running;
  }

  private RMApp application(ApplicationId id) {
    return cluster.resourceManager().getRMContext().getRMApps().get(id);
  }

  private boolean hasEnded(ApplicationId id) {
    RMAppState state = application(id).getState();
    return state == RMAppState.FINISHED || state == RMAppState.KILLED || state == RMAppState.FAILED;
  }

  private RMAppAttempt attempt(ApplicationId id) {
    RMApp application = application(id);
    return application == null ? null : application.getCurrentAppAttempt();
  }

  private <T> T any(List<T> among) {
    return among.get(random.nextInt(among.size()));
  }
}
