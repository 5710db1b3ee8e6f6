"""The four rounds of the demo and their differences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape

NODES = 3

# By request, three containers of 1 GB fill a node: memory is booked up while 40 % of the CPU
# is used (published: 20 to 45 %).
SHAPE = NodeShape(memory_mb=3072, vcores=4, cpu_cores=0.6, disk_bytes_per_s=25_000_000)

# At twice their size nodes already run at their CPU while applications arrive.
BLIND_RATIO = 2.0
MAX_RATIO = 4.0

# As its own administrators would have set it. A third of an application is its driver: with a
# smaller share for drivers memory stays unbooked, with a larger one drivers wait for executors.
TUNED: dict[str, object] = {
    "yarn.scheduler.capacity.root.default.maximum-am-resource-percent": 0.35,
    "yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments": 3,
}


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

    def is_advised(self) -> bool:
        """Whether it works out what mode enforce would have made of it."""
        return self.mode == "advise"

    def adds_learned(self) -> bool:
        """Whether what the round `learning` learned is added to its depository first."""
        return self.name in {"capacity", "profiles"}

    def begins_depository(self) -> bool:
        """Whether it is the first round with its depository, which then knows nothing."""
        return self is next(one for one in ROUNDS if one.depository == self.depository)

    def settings(self, folder: Path) -> ClusterSettings:
        return ClusterSettings(
            work=folder / "rounds" / self.name,
            nodes=NODES,
            shape=SHAPE,
            registered_ratio=self.registered_ratio,
            hold_nodes=True,
            capacity_scheduler=TUNED,
            elastane=ElastaneSettings(
                mode=self.mode,
                max_ratio=self.max_ratio,
                depository=folder / self.depository,
                journal=folder / f"{self.name}.jsonl",
            ),
        )


OBSERVED = "observed.sqlite"
LEARNED = "learned.sqlite"

# In the order in which they run: what mode advise says of `capacity` is by the same knowledge as
# `profiles`, and these two, which are compared, run one after the other.
ROUNDS = (
    Round(
        "oversubscribed",
        f"CapacityScheduler, nodes at {BLIND_RATIO:g} times their size, agents only observe",
        "observe",
        BLIND_RATIO,
        1.0,
        OBSERVED,
    ),
    Round("learning", "Elastane, knows no application", "enforce", 1.0, MAX_RATIO, LEARNED),
    Round(
        "capacity",
        "CapacityScheduler, agents only observe, and the core works out what enforce would win",
        "advise",
        1.0,
        MAX_RATIO,
        OBSERVED,
    ),
    Round(
        "profiles", "Elastane, knows the three rounds before", "enforce", 1.0, MAX_RATIO, OBSERVED
    ),
)

# In the order of the report: the baseline comes first.
COLUMNS = ("capacity", "oversubscribed", "learning", "profiles")
