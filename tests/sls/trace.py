"""What SLS simulates: nodes and applications, in the format of its synthetic traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# `SlsSettings.java` has the same queues, and the demands of containers of this size.
QUEUES = ("sls_queue_1", "sls_queue_2", "sls_queue_3")
CONTAINER_MB = 2048
CONTAINER_VCORES = 1

NODES_PER_RACK = 40
# Every run of a size simulates the same applications.
SEED = 1


@dataclass(frozen=True)
class Load:
    """The size of a simulation."""

    nodes: int
    applications: int
    containers: int
    """Of all applications, without ApplicationMasters. Each application has as many as another."""
    container_ms: int

    def __post_init__(self) -> None:
        """Raises ValueError."""
        if min(self.nodes, self.applications, self.container_ms) < 1:
            raise ValueError("nodes, applications and a container's time must be positive")
        if self.containers < 1 or self.containers % self.applications:
            raise ValueError("containers must be a multiple of applications")

    @property
    def in_application(self) -> int:
        return self.containers // self.applications

    def trace(self) -> dict[str, Any]:
        """SLS starts all applications of such a trace at once, whatever their submission times."""
        return {
            "num_nodes": self.nodes,
            "nodes_per_rack": min(NODES_PER_RACK, self.nodes),
            "num_jobs": self.applications,
            "rand_seed": SEED,
            "workloads": [self._workload(queue) for queue in QUEUES],
        }

    def _workload(self, queue: str) -> dict[str, Any]:
        return {
            "workload_name": queue,
            "workload_weight": 1.0,
            "queue_name": queue,
            "job_classes": [
                {
                    "class_name": "maps",
                    "user_name": "sls",
                    "class_weight": 1.0,
                    "type": "mapreduce",
                    "deadline_factor": {"val": 1.0},
                    "duration": {"val": 60.0},
                    # Negative: no application asks for a reservation.
                    "reservation": {"val": -1.0},
                    "tasks": [
                        {
                            "type": "map",
                            "priority": 20,
                            "count": {"val": float(self.in_application)},
                            "time": {"val": float(self.container_ms)},
                            "max_memory": {"val": float(CONTAINER_MB)},
                            "max_vcores": {"val": float(CONTAINER_VCORES)},
                        }
                    ],
                }
            ],
            "time_distribution": [{"time": 0, "weight": 1.0}],
        }
