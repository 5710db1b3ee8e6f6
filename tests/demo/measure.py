"""Measures the cluster from outside, so that the report does not rest on Elastane's own figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from cluster.cgroups import NodeShare
from cluster.cluster import Cluster
from cluster.node_manager import NodeManager
from cluster.waiting import DeadlineMissed
from demo.background import Background
from demo.expected_starts import ToldStart, told_starts
from demo.series import NodePoint, NodeSeries

EVERY_SECONDS = 1.0
# Each answer is a forecast of all queues.
ASK_STARTS_EVERY_SECONDS = 10.0
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes(share: NodeShare, node_manager: NodeManager) -> int:
    """The containers' resident memory: all processes in and below the group except the NodeManager.

    Pages that forked Python workers share are counted for each worker.
    """
    total = 0
    for folder, _, _ in os.walk(share.folder("cpu")):
        try:
            pids = (Path(folder) / "cgroup.procs").read_text().split()
        except OSError:
            continue  # the agent has removed the container's group
        for pid in pids:
            if int(pid) == node_manager.daemon.pid:
                continue
            try:
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
            except OSError:
                continue  # ended meanwhile
    return total


class Watch(Background):
    """Once a second: each node's bookings by RM REST and its use by the demo's own cgroup. Every
    ten seconds: when waiting applications are expected to start.

    Nodes that are not limited have no such group, and their use reads as 0.
    """

    def __init__(
        self,
        cluster: Cluster,
        memory_bytes: Callable[[NodeShare, NodeManager], int] = resident_bytes,
    ) -> None:
        super().__init__("watch")
        self._cluster = cluster
        self._memory_bytes = memory_bytes
        self._started_s = 0.0
        self._last: dict[str, tuple[float, float, int]] = {}
        self._asked_starts_s: float | None = None
        self.told_starts: list[ToldStart] = []
        self.missed = 0
        self.nodes = {
            manager.node_id: NodeSeries(manager.name) for manager in cluster.node_managers
        }

    def __enter__(self) -> Watch:
        self._started_s = time.monotonic()
        self._look()
        super().__enter__()
        return self

    def seconds(self) -> float:
        return time.monotonic() - self._started_s

    def containers(self) -> int:
        return sum(series.points[-1].containers for series in self.nodes.values() if series.points)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            try:
                self._look()
            except DeadlineMissed:
                # The poll for applications meets the same failure, and ends the round.
                self.missed += 1

    def _look(self) -> None:
        self._look_at_nodes()
        asked_s = self._asked_starts_s
        if asked_s is None or self.seconds() - asked_s >= ASK_STARTS_EVERY_SECONDS:
            self._asked_starts_s = self.seconds()
            status = self._cluster.resource_manager.status()
            self.told_starts.extend(told_starts(status, round(time.time() * 1000)))

    def _look_at_nodes(self) -> None:
        listed = {node["id"]: node for node in self._cluster.resource_manager.nodes()}
        shares = dict(zip(self.nodes, self._cluster.shares, strict=False))
        managers = self._cluster.node_managers
        for manager, (node_id, series) in zip(managers, self.nodes.items(), strict=True):
            node = listed.get(node_id)
            if node is None:
                continue
            cpu_cores, disk_bytes_per_s, memory_bytes = 0.0, 0.0, 0
            if node_id in shares:
                cpu_cores, disk_bytes_per_s = self._rates(node_id, shares[node_id])
                memory_bytes = self._memory_bytes(shares[node_id], manager)
            series.points.append(
                NodePoint(
                    time_s=self.seconds(),
                    containers=node["numContainers"],
                    booked_memory_bytes=node["usedMemoryMB"] * 1024 * 1024,
                    booked_vcores=node["usedVirtualCores"],
                    used_cpu_cores=cpu_cores,
                    used_memory_bytes=memory_bytes,
                    used_disk_bytes_per_s=disk_bytes_per_s,
                )
            )

    def _rates(self, node_id: str, share: NodeShare) -> tuple[float, float]:
        """Cores used, and bytes read per second, since the last call."""
        now = (time.monotonic(), share.cpu_used_seconds(), share.disk_read_bytes())
        before = self._last.get(node_id)
        self._last[node_id] = now
        if before is None:
            return 0.0, 0.0
        seconds = now[0] - before[0]
        return (now[1] - before[1]) / seconds, (now[2] - before[2]) / seconds
