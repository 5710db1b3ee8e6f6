package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;

/** The figures of the whole cluster that are asked for whenever metrics are read. */
final class ClusterFigures implements Consumer<MetricsRecordBuilder> {
  private final CoreGuard guard;
  private final LiveSettings settings;
  private final Parts parts;
  private final BooleanSupplier active;
  private final BooleanSupplier raisingForbidden;
  private final Supplier<JsonNode> status;
  private final Supplier<JsonNode> sizes;

  /**
   * @param status the core's, or an empty one
   * @param sizes see {@link SizesJson#sizes}
   */
  ClusterFigures(
      CoreGuard guard,
      LiveSettings settings,
      Parts parts,
      BooleanSupplier active,
      BooleanSupplier raisingForbidden,
      Supplier<JsonNode> status,
      Supplier<JsonNode> sizes) {
    this.guard = guard;
    this.settings = settings;
    this.parts = parts;
    this.active = active;
    this.raisingForbidden = raisingForbidden;
    this.status = status;
    this.sizes = sizes;
  }

  @Override
  public void accept(MetricsRecordBuilder builder) {
    flag(builder, "InService", "1 while the core decides", guard.inService());
    flag(
        builder, "Active", "1 while this ResourceManager is the active one", active.getAsBoolean());
    flag(builder, "Enforcing", "1 while the mode in force is enforce", settings.isEnforcing());
    flag(builder, "ObserveFile", "1 while the observe file exists", settings.isObserveFileThere());
    flag(
        builder,
        "RaisingForbidden",
        "1 while a setting or a queue forbids raised nodes",
        raisingForbidden.getAsBoolean());
    int outOfService = 0;
    for (Parts.State part : parts.states()) {
      String about = "1 while this part works: " + part.name();
      flag(builder, part.metricName() + "InService", about, part.isInService());
      outOfService += part.isInService() ? 0 : 1;
    }
    builder.addGauge(info("PartsOutOfService", "How many parts failed alone"), outOfService);
    JsonNode cluster = sizes.get().path("cluster");
    SizeGauges.add(builder, cluster);
    builder.addGauge(
        info("NodesRaised", "Nodes that are larger than they registered"),
        cluster.path("nodes_raised").asInt());
    builder.addGauge(
        info("NodesMeasured", "Nodes whose agent has reported"),
        cluster.path("nodes_measured").asInt());
    JsonNode core = status.get();
    for (CoreFigure figure : CoreFigure.values()) {
      figure.add(builder, core);
    }
  }

  private static void flag(MetricsRecordBuilder builder, String name, String about, boolean isSet) {
    builder.addGauge(info(name, about), isSet ? 1 : 0);
  }
}
