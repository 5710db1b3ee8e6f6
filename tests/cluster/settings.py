"""A cluster's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cluster.hosts import LOCAL, Host
from cluster.security import Security

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class NodeShape:
    """A node's physical size. `cpu_cores` and the disk are shares of the machine."""

    memory_mb: int
    vcores: int
    cpu_cores: float
    disk_bytes_per_s: int
    disk_write_share: float | None = None
    """The part of the disk that is for writes; the rest is for reads. None: reads have all of it,
    and writes are not limited."""

    @property
    def memory_bytes(self) -> int:
        return self.memory_mb * MEBIBYTE


@dataclass(frozen=True)
class ElastaneSettings:
    """The keys of yarn.scheduler.elastane that the demo and the tests set."""

    mode: str
    depository: Path
    journal: Path
    max_ratio: float = 2.0
    extra: Mapping[str, object] = field(default_factory=dict)
    """More keys, without the prefix."""


@dataclass(frozen=True)
class ClusterSettings:
    """Equal nodes, an agent for each if Elastane is used, and one or more ResourceManagers."""

    work: Path
    """Everything that the cluster writes; its name marks the cluster's processes."""

    nodes: int
    shape: NodeShape
    registered_ratio: float = 1.0
    """The NodeManagers register this many times their physical memory and vcores."""

    elastane: ElastaneSettings | None = None
    """None: the stock CapacityScheduler without agents."""

    library: Path | None = None
    """Another libelastane.so than the one that was built."""

    hold_nodes: bool = False
    """Whether each node's CPU and disk are held to its shape by a cgroup."""

    hold_memory: bool = False
    """Whether its memory is held as well: at the limit the kernel kills. Needs `hold_nodes`."""

    hold_node_managers: bool = True
    """Whether NodeManagers run in their nodes' groups, where their containers begin. Otherwise
    containers must enter the groups themselves."""

    resource_managers: tuple[str, ...] = ()
    """Their ids with high availability; the first one is made active. Empty: one without an id."""

    sub_cluster: str = ""
    """Its id in a federation, whose clusters run at the same time. Empty: in none."""

    zookeeper: Mapping[str, str] = field(default_factory=dict)
    """The address by which each of them reaches ZooKeeper, which then chooses the active one and
    keeps their state. Empty: an administrator chooses."""

    recovery: bool = False
    """Whether ResourceManager and NodeManagers keep their state over a restart."""

    own_memory: bool = False
    """Whether each agent sees a simulated memory of the node's size, used only by the node's
    containers, instead of this machine's. Needs root."""

    agent: Mapping[str, object] = field(default_factory=dict)
    """More keys of each agent.toml, for instance memory.node_floor_bytes."""

    resource_manager_options: tuple[str, ...] = ()
    """More options of its JVM, for instance a Java agent."""

    metrics: Mapping[str, object] = field(default_factory=dict)
    """More keys of its hadoop-metrics2.properties, for instance a sink."""

    hosts: Mapping[str, Host] = field(default_factory=dict)
    """The host of each ResourceManager, by its id, and of each node, by its name. All others are
    this machine."""

    security: Security | None = None
    """None: neither Kerberos nor TLS."""

    resource_manager: Mapping[str, object] = field(default_factory=dict)
    node_manager: Mapping[str, object] = field(default_factory=dict)
    capacity_scheduler: Mapping[str, object] = field(default_factory=dict)

    def host(self, name: str) -> Host:
        return self.hosts.get(name, LOCAL)

    @property
    def registered_memory_mb(self) -> int:
        return round(self.shape.memory_mb * self.registered_ratio)

    @property
    def registered_vcores(self) -> int:
        return round(self.shape.vcores * self.registered_ratio)
