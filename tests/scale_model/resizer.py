"""What others do about booked memory that is not used: nodes are resized by their present use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cluster.cluster import Cluster
from cluster.rest import post_json
from cluster.waiting import DeadlineMissed
from demo.background import Background
from scale_model.scale import SHAPE

EVERY_SECONDS = 10.0


@dataclass(frozen=True)
class NodeUse:
    """Parts of a node's memory and CPU that its agent measured, the larger of the two."""

    used: float
    booked: float
    """The memory that is booked, over the node's."""


Rule = Callable[[str, NodeUse], float]
"""A node and its use give the size that it is to have, over its physical size."""


def watermarks(_: str, use: NodeUse) -> float:
    """Yahoo's (YARN-5202): 1.5 times up to a use of 0.6, not at all from 0.8 on, linear between."""
    low, high, most = 0.6, 0.8, 1.5
    part = min(max((high - use.used) / (high - low), 0.0), 1.0)
    return 1.0 + (most - 1.0) * part


@dataclass
class Optimizer:
    """1.5 times, and nothing more on a node that used more than 0.8 in three cycles in a row."""

    most: float = 1.5
    stop_at: float = 0.8
    cycles: int = 3
    _above: dict[str, int] = field(default_factory=dict)

    def __call__(self, node: str, use: NodeUse) -> float:
        above = self._above.get(node, 0) + 1 if use.used > self.stop_at else 0
        self._above[node] = above
        return max(1.0, use.booked) if above >= self.cycles else self.most


class Resizer(Background):
    """Applies a rule to all nodes every 10 s, as an administrator's own program would: with
    YARN's REST."""

    def __init__(self, cluster: Cluster, rule: Rule) -> None:
        super().__init__("resizer")
        self._cluster = cluster
        self._rule = rule
        self.missed = 0
        """Cycles in which the ResourceManager did not answer or refused."""

    def __enter__(self) -> Resizer:
        super().__enter__()
        return self

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            try:
                self._resize()
            except (DeadlineMissed, OSError):
                self.missed += 1

    def _resize(self) -> None:
        manager = self._cluster.resource_manager
        for node in manager.node_sizes():
            cpu = (node["used_cpu_cores"] or 0.0) / SHAPE.cpu_cores
            memory = (node["used_memory_mb"] or 0) / SHAPE.memory_mb
            booked = node["booked_memory_mb"] / SHAPE.memory_mb
            ratio = self._rule(node["node"], NodeUse(max(cpu, memory), booked))
            size = {
                "memory": round(SHAPE.memory_mb * ratio),
                "vCores": round(SHAPE.vcores * ratio),
            }
            post_json(
                f"{manager.url}/ws/v1/cluster/nodes/{node['node']}/resource?user.name=root",
                {"resource": size, "overCommitTimeout": -1},
            )
