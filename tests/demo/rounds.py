"""The four rounds of the demo and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape

NODES = 3

# By request, three containers of a Spark application fit each node. Memory binds, as on most real
# clusters, and the requests are far above the applications' use.
SHAPE = NodeShape(memory_mb=4608, vcores=4, cpu_cores=0.6, disk_bytes_per_s=25_000_000)

RATIO = 2.0


@dataclass(frozen=True)
class Round:
    """One round; the same applications arrive at the same times in each."""

    name: str
    scheduler: str
    """For the report, in plain words."""

    mode: str
    registered_ratio: float
    max_ratio: float
    depository: str
    """The file's name; rounds with the same name go on with what the earlier one learned."""

    def settings(self, folder: Path) -> ClusterSettings:
        return ClusterSettings(
            work=folder / "rounds" / self.name,
            nodes=NODES,
            shape=SHAPE,
            registered_ratio=self.registered_ratio,
            hold_nodes=True,
            elastane=ElastaneSettings(
                mode=self.mode,
                max_ratio=self.max_ratio,
                depository=folder / self.depository,
                journal=folder / f"{self.name}.jsonl",
            ),
        )


OBSERVED = "observed.sqlite"
LEARNED = "learned.sqlite"

ROUNDS = (
    Round("capacity", "CapacityScheduler, agents only observe", "observe", 1.0, 1.0, OBSERVED),
    Round(
        "oversubscribed",
        f"CapacityScheduler, nodes registered at {RATIO:g} times their size, agents only observe",
        "observe",
        RATIO,
        1.0,
        OBSERVED,
    ),
    Round("learning", "Elastane, knows no application", "enforce", 1.0, RATIO, LEARNED),
    Round("profiles", "Elastane, knows the three rounds before", "enforce", 1.0, RATIO, OBSERVED),
)
