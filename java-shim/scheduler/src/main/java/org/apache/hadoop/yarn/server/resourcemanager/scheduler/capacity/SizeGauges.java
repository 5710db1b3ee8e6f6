package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;

/** The sizes of {@link SizesJson} as metrics, for the cluster, a node label or a queue. */
enum SizeGauges {
  PHYSICAL_MEMORY_MB("PhysicalMB", "Memory that the nodes registered"),
  PHYSICAL_VCORES("PhysicalVCores", "Virtual cores that the nodes registered"),
  PHYSICAL_CPU_CORES("PhysicalCpuCores", "CPU cores of the nodes, as agents measure them"),
  PHYSICAL_NETWORK_BYTES_PER_S(
      "PhysicalNetworkBytesPerSecond", "Speed of the nodes' links, as far as it is known"),
  PHYSICAL_DISK_BYTES_PER_S(
      "PhysicalDiskBytesPerSecond", "Speed of the nodes' disks, as far as it is known"),
  BOOKABLE_MEMORY_MB("BookableMB", "Memory that CapacityScheduler may book"),
  BOOKABLE_VCORES("BookableVCores", "Virtual cores that CapacityScheduler may book"),
  BOOKED_MEMORY_MB("BookedMB", "Memory that containers requested"),
  BOOKED_VCORES("BookedVCores", "Virtual cores that containers requested"),
  PLANNED_MEMORY_MB("PlannedMB", "Memory that containers are expected to use now"),
  PLANNED_CPU_CORES("PlannedCpuCores", "CPU cores that containers are expected to use now"),
  PLANNED_NETWORK_BYTES_PER_S(
      "PlannedNetworkBytesPerSecond", "Traffic that containers are expected to have now"),
  PLANNED_DISK_BYTES_PER_S(
      "PlannedDiskBytesPerSecond", "Disk traffic that containers are expected to have now"),
  USED_MEMORY_MB("UsedMB", "Memory that containers use, as agents measure it"),
  USED_CPU_CORES("UsedCpuCores", "CPU cores that containers use, as agents measure it"),
  USED_NETWORK_BYTES_PER_S(
      "UsedNetworkBytesPerSecond", "Traffic that containers have, as agents measure it"),
  USED_DISK_BYTES_PER_S(
      "UsedDiskBytesPerSecond", "Disk traffic that containers have, as agents measure it");

  private static final Set<SizeGauges> OF_MACHINES =
      EnumSet.of(PHYSICAL_CPU_CORES, PHYSICAL_NETWORK_BYTES_PER_S, PHYSICAL_DISK_BYTES_PER_S);

  private final String key;
  private final String metric;
  private final String about;

  SizeGauges(String name, String about) {
    key = name().toLowerCase(Locale.ROOT);
    metric = name;
    this.about = about;
  }

  /**
   * @param entry of {@link SizesJson}; missing where there is none, which is nothing of everything
   */
  static void add(MetricsRecordBuilder builder, JsonNode entry) {
    for (SizeGauges gauge : values()) {
      // A queue has no machines of its own.
      if (!OF_MACHINES.contains(gauge) || entry.has(gauge.key)) {
        JsonGauge.add(builder, info(gauge.metric, gauge.about), entry.path(gauge.key));
      }
    }
  }
}
