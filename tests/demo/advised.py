"""What mode advise says of a round, for the measured applications."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.elastane_command import run_elastane
from cluster.journal import records
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.resource_manager import ResourceManager
from cluster.waiting import DeadlineMissed, wait_until

LEARN_SECONDS = 60.0


@dataclass(frozen=True)
class Times:
    """Of all measured applications."""

    makespan_s: float
    mean_completion_s: float


@dataclass(frozen=True)
class Advised:
    """The replays of a round."""

    as_capacity: Times
    as_enforce: Times
    containers_earlier: int
    mean_earlier_s: float
    node_hours_as_capacity: float
    """Those of the warm-up included, as in the next."""

    node_hours_as_enforce: float
    took_s: float
    whole: dict[str, Any]
    """The whole advice; it counts the warm-up as well."""


def advised(
    manager: ResourceManager,
    checkout: Checkout,
    folder: Path,
    name: str,
    submitted: list[str],
    progress: Callable[[str], None],
) -> Advised | None:
    """Asks for the advice as soon as all runs of a round are known; `NAME-advice.json` in `folder`
    has it. The rounds go on without one."""
    journal = folder / f"{name}.jsonl"
    try:
        wait_until(
            lambda: {one["application"] for one in records(journal, "learned")} >= set(submitted),
            "the runs of all applications",
            LEARN_SECONDS,
        )
        told = run_elastane(checkout, "advise", "--resource-manager", manager.url, "--json")
    except (DeadlineMissed, ProcessEnded) as missing:
        progress(f"no advice: {missing}")
        return None
    (folder / f"{name}-advice.json").write_text(told)
    whole = json.loads(told)
    return read_advice(whole, submitted, progress)


def read_advice(
    whole: dict[str, Any], submitted: list[str], progress: Callable[[str], None]
) -> Advised | None:
    """What it says of these applications; none where it could not compare them."""
    measured = [one for one in whole["by_application"] if one["id"] in submitted]
    if not measured:
        progress(f"no advice: {whole['problem'] or 'it compares none of the applications'}")
        return None
    earlier = sum(one["containers_earlier"] for one in measured)
    earlier_s = sum(one["containers_earlier"] * one["mean_earlier_s"] for one in measured)
    return Advised(
        as_capacity=_times(measured, "capacity_completion_s"),
        as_enforce=_times(measured, "enforce_completion_s"),
        containers_earlier=earlier,
        mean_earlier_s=earlier_s / max(earlier, 1),
        node_hours_as_capacity=whole["capacity"]["node_hours"],
        node_hours_as_enforce=whole["enforce"]["node_hours"],
        took_s=whole["took_s"],
        whole=whole,
    )


def _times(applications: list[dict[str, Any]], completion: str) -> Times:
    first_ms = min(one["submitted_ms"] for one in applications)
    ends = [one["submitted_ms"] / 1000 + one[completion] for one in applications]
    return Times(
        makespan_s=max(ends) - first_ms / 1000,
        mean_completion_s=sum(one[completion] for one in applications) / len(applications),
    )
