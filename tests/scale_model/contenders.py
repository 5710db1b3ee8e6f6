"""What is compared: schedulers and settings, each with the same applications at the same times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cluster.settings import ClusterSettings, ElastaneSettings
from scale_model.resizer import Optimizer, Rule, watermarks
from scale_model.scale import NODES, SHAPE
from scale_model.workload import QUEUES

NOTHING = "nothing"
HISTORY = "history"
TRUTH = "truth"


@dataclass(frozen=True)
class Contender:
    """One column of the comparison. In mode `observe` every decision is CapacityScheduler's; the
    agents measure in all of them."""

    name: str
    meaning: str
    mode: str = "observe"
    registered_ratio: float = 1.0
    """Nodes register this many times their memory and virtual cores."""

    knows: str = NOTHING
    """What the depository has: nothing, an earlier run of the recurring applications, or what each
    submission will do."""

    right_sized: bool = False
    """Whether recurring applications request the largest memory that earlier runs used."""

    resized_by: Callable[[], Rule] | None = None
    """Makes the rule by which nodes are resized from outside."""

    extra: dict[str, object] = field(default_factory=dict)
    """More keys of yarn.scheduler.elastane."""

    def settings(self, work: Path) -> ClusterSettings:
        return ClusterSettings(
            work=work,
            nodes=NODES,
            shape=SHAPE,
            registered_ratio=self.registered_ratio,
            hold_nodes=True,
            hold_memory=True,
            hold_node_managers=False,
            own_memory=True,
            elastane=ElastaneSettings(
                mode=self.mode,
                max_ratio=4.0,
                depository=work.parent / f"{self.name}.sqlite",
                journal=work.parent / f"{self.name}.jsonl",
                extra=self.extra,
            ),
            resource_manager={"yarn.scheduler.minimum-allocation-mb": 1},
            capacity_scheduler=_queues(),
        )


def _queues() -> dict[str, object]:
    """As an administrator would: a queue may take what the others leave, and so may one user."""
    root = "yarn.scheduler.capacity.root"
    names = [path.removeprefix("root.") for path in QUEUES]
    keys: dict[str, object] = {f"{root}.queues": ",".join(names)}
    for name, share in zip(names, QUEUES.values(), strict=True):
        keys |= {
            f"{root}.{name}.capacity": 100 * share,
            f"{root}.{name}.maximum-capacity": 100,
            f"{root}.{name}.user-limit-factor": 10,
            f"{root}.{name}.maximum-am-resource-percent": 1.0,
        }
    return keys


CAPACITY = Contender("capacity", "CapacityScheduler")
CONTENDERS = {
    one.name: one
    for one in (
        CAPACITY,
        Contender("x1.5", "nodes registered at 1.5 times their size", registered_ratio=1.5),
        Contender("x2", "nodes registered at twice their size", registered_ratio=2.0),
        Contender("x2.5", "nodes registered at 2.5 times their size", registered_ratio=2.5),
        Contender("x3", "nodes registered at three times their size", registered_ratio=3.0),
        Contender(
            "watermarks",
            "Yahoo's watermarks: nodes at 1.5 times while at most 0.6 of them is used",
            resized_by=lambda: watermarks,
        ),
        Contender(
            "optimizer",
            "nodes at 1.5 times until 0.8 of them was used for half a minute",
            resized_by=Optimizer,
        ),
        Contender(
            "right-sized",
            "recurring applications request the memory that earlier runs used",
            right_sized=True,
        ),
        Contender("learning", "Elastane, which knows no application", mode="enforce"),
        Contender(
            "profiles",
            "Elastane, which has seen the recurring applications before",
            mode="enforce",
            knows=HISTORY,
        ),
        Contender("oracle", "Elastane, which knows what each will do", mode="enforce", knows=TRUTH),
    )
}
