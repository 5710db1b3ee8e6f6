"""Runs one contender on its own cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.cgroups import CannotHold
from cluster.cluster import Cluster
from cluster.journal import records
from cluster.machine import busy_core_seconds
from cluster.paths import Checkout
from demo.expected_starts import ExpectedStarts, held_against_starts
from demo.measure import Watch
from demo.series import NodeSeries
from scale_model import knowledge
from scale_model.contenders import Contender
from scale_model.driver import Driver
from scale_model.resizer import Resizer
from scale_model.states import State
from scale_model.workload import Application

RUN_SECONDS = 1800.0
POLL_SECONDS = 1.0
# Nodes are raised only after they have reported.
REPORTED_SECONDS = 8.0

Progress = Callable[[str], None]


@dataclass
class RunOutcome:
    """The observations of one run."""

    state: State
    contender: Contender
    seed: int
    applications: Sequence[Application]
    events: list[dict[str, Any]]
    executors: list[dict[str, Any]]
    nodes: list[NodeSeries]
    cpu_core_s: float
    machine_core_s: float
    out_of_memory_kills: int
    counters: dict[str, Any]
    depository: Path
    expected_starts: ExpectedStarts | None = None
    """None where no waiting application was told when it would start."""


def run_one(
    state: State,
    contender: Contender,
    seed: int,
    applications: Sequence[Application],
    history: Path | None,
    folder: Path,
    checkout: Checkout,
    progress: Progress,
) -> RunOutcome:
    """Starts the cluster, submits each application at its time, and waits for the last end."""
    label = f"{state.name} {contender.name} seed {seed}"
    settings = contender.settings(folder / "work")
    assert settings.elastane is not None
    folder.mkdir(parents=True, exist_ok=True)
    settings.elastane.journal.unlink(missing_ok=True)
    knowledge.prepare(contender, settings.elastane.depository, history, applications, checkout)
    progress(f"{label}: starting the cluster")
    with Cluster(settings, checkout) as cluster:
        if cluster.cannot_hold is not None:
            raise CannotHold(cluster.cannot_hold)
        time.sleep(REPORTED_SECONDS)
        cpu_before = _cpu_used(cluster)
        busy_before = busy_core_seconds()
        rule = contender.resized_by and contender.resized_by()
        with (
            Resizer(cluster, rule) if rule else nullcontext() as resizer,
            Driver(cluster, contender, applications, checkout) as driver,
            Watch(cluster, lambda share, _: share.memory_used_bytes()) as watch,
        ):
            _follow(cluster, driver, watch, len(applications), label, progress)
            if resizer is not None and resizer.missed:
                progress(f"{label}: nodes could not be resized {resizer.missed} times")
            return RunOutcome(
                state=state,
                contender=contender,
                seed=seed,
                applications=applications,
                events=driver.events(),
                executors=driver.executors(),
                nodes=list(watch.nodes.values()),
                cpu_core_s=_cpu_used(cluster) - cpu_before,
                machine_core_s=busy_core_seconds() - busy_before,
                out_of_memory_kills=sum(share.out_of_memory_kills() for share in cluster.shares),
                counters=cluster.resource_manager.counters(),
                depository=settings.elastane.depository,
                expected_starts=held_against_starts(
                    watch.told_starts, list(records(settings.elastane.journal))
                ),
            )


def _follow(
    cluster: Cluster, driver: Driver, watch: Watch, total: int, label: str, progress: Progress
) -> None:
    while not driver.has_ended:
        cluster.check()
        if watch.seconds() > RUN_SECONDS:
            progress(f"{label}: given up after {RUN_SECONDS:g} s")
            return
        kinds = [event["event"] for event in driver.events()]
        ended = kinds.count("finished") + kinds.count("failed")
        progress(
            f"{label}: {watch.seconds():4.0f} s, {ended} of {total} applications ended, "
            f"{kinds.count('submitted') - ended} wait or run, {watch.containers()} containers"
        )
        time.sleep(POLL_SECONDS)


def _cpu_used(cluster: Cluster) -> float:
    return sum(share.cpu_used_seconds() for share in cluster.shares)
