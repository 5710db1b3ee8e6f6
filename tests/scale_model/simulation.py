"""The same run in the simulator, which is held to what the real cluster did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cluster.elastane_command import run_elastane_lab
from cluster.paths import Checkout
from cluster.settings import MEBIBYTE
from scale_model.contenders import HISTORY, TRUTH, Contender
from scale_model.driver import requested_mb
from scale_model.recorded import Series
from scale_model.scale import NODES, SCALE, SHAPE, SLOT_S
from scale_model.workload import EXECUTOR_SPREAD, QUEUES, RUN_SPREAD, Application


@dataclass(frozen=True)
class Simulated:
    """The figures of a simulated run."""

    makespan_s: float
    mean_completion_s: float
    p95_completion_s: float
    missed_deadlines: float
    applications: list[dict[str, Any]]
    """Each one's name, and when it was submitted, started and ended, in seconds."""


def policy(contender: Contender) -> str | None:
    """The simulator's policy; None for what it has none for."""
    if contender.mode == "enforce":
        return "elastane"
    if contender.resized_by is not None:
        return None
    ratio = contender.registered_ratio
    return {1.0: "capacity", 2.0: "oversubscribe"}.get(ratio, f"oversubscribe-{ratio:g}")


def simulate(
    contender: Contender,
    applications: Sequence[Application],
    folder: Path,
    checkout: Checkout,
    options: Sequence[str] = (),
) -> Simulated | None:
    """None if the simulator has no such policy. `options` are more of `elastane-lab simulate`."""
    chosen = policy(contender)
    if chosen is None:
        return None
    scenario, result = folder / "scenario.json", folder / "simulated.json"
    scenario.write_text(json.dumps(_scenario(contender, applications)))
    arguments = ("--scenario", scenario, "--policy", chosen, "--json", result, *options)
    run_elastane_lab(checkout, "simulate", *arguments)
    figures = json.loads(result.read_text())["policies"][chosen]
    # Figures are lists with an entry for each seed of the simulator, of which there is one.
    return Simulated(**{field.name: figures[field.name][0] for field in fields(Simulated)})


def _scenario(contender: Contender, applications: Sequence[Application]) -> dict[str, Any]:
    """In the sizes that the model stands for: a virtual core is a core there."""
    machine = {
        "cpu_cores": SHAPE.cpu_cores * SCALE,
        "memory_bytes": SHAPE.memory_bytes * SCALE,
        "network_bytes_per_s": 0,
        "disk_bytes_per_s": SHAPE.disk_bytes_per_s * SCALE,
    }
    return {
        "name": contender.name,
        "queues": [{"path": path, "capacity": share} for path, share in QUEUES.items()],
        "machines": [{"count": NODES, "capacity": machine}],
        "applications": [_application(contender, one) for one in applications],
    }


def _application(contender: Contender, application: Application) -> dict[str, Any]:
    known = contender.knows == TRUTH or (contender.knows == HISTORY and application.recurring)
    memory_mb = requested_mb(contender, application) * SCALE
    return {
        "name": application.name,
        "queue": application.queue,
        "submitted_ms": round(application.arrives_s * 1000),
        "deadline_ms": application.deadline_s and round(application.deadline_s * 1000),
        "executors": application.executors,
        "request": {"vcores": application.vcores, "memory_bytes": memory_mb * MEBIBYTE},
        "actual": _in_slots(application.series),
        "known": known,
        # Standard deviations; the spreads are the halves of even distributions.
        "slot_error": RUN_SPREAD / 3**0.5,
        "length_error": EXECUTOR_SPREAD / 3**0.5,
    }


def _in_slots(series: Series) -> dict[str, list[float]]:
    """The series in slots of the simulator's length."""
    resampled = series.resampled(SLOT_S)
    return {
        "cpu_cores": [SCALE * value for value in resampled.cpu_cores],
        "memory_bytes": [SCALE * value for value in resampled.memory_bytes],
        "network_bytes_per_s": [0.0] * len(resampled.cpu_cores),
        "disk_bytes_per_s": [SCALE * value for value in resampled.disk_bytes_per_s],
    }
