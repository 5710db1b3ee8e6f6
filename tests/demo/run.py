"""Runs one round on its own cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.cluster import Cluster
from cluster.journal import records
from cluster.machine import busy_core_seconds
from cluster.paths import Checkout
from cluster.spark import END_STATES, Submitter, wait_ended
from demo.advised import Advised, advised
from demo.data import ColdInputs, Inputs
from demo.expected_starts import ToldStart
from demo.measure import Watch
from demo.rounds import Round
from demo.series import NodeSeries, PlanPoint
from demo.workloads import Arrival, warm_up

WARM_UP_SECONDS = 180.0
ROUND_SECONDS = 900.0
KILL_SECONDS = 30.0
POLL_SECONDS = 1.0

Progress = Callable[[str], None]


@dataclass
class RoundOutcome:
    """The observations of one round."""

    round: Round
    started_ms: int
    applications: list[dict[str, Any]]
    """RM REST's records, in the order of submission."""

    nodes: list[NodeSeries]
    cpu_core_s: float | None
    """Of the nodes; None where they are not held to a share."""

    machine_core_s: float
    """Of the whole machine, whoever used it."""

    containers: int
    placed_by_core: int
    """By the scheduler's own count: containers that the core's order led to."""

    journal: list[dict[str, Any]]
    missed_looks: int
    cannot_hold: str | None
    counters: dict[str, Any] = field(default_factory=dict)
    told_starts: list[ToldStart] = field(default_factory=list)
    advice: Advised | None = None
    """Of an advised round."""


def run_round(
    one: Round,
    folder: Path,
    checkout: Checkout,
    inputs: Inputs,
    arrivals: list[Arrival],
    progress: Progress,
) -> RoundOutcome:
    """Starts the cluster, submits each application at its time, and waits for the last end."""
    settings = one.settings(folder)
    journal = folder / f"{one.name}.jsonl"
    journal.unlink(missing_ok=True)
    progress(f"{one.name}: starting the cluster")
    with (
        Cluster(settings, checkout) as cluster,
        Submitter(cluster.resource_manager, settings.work, checkout) as submitter,
        ColdInputs(inputs.files()),
    ):
        progress(f"{one.name}: warm-up")
        manager = cluster.resource_manager
        wait_ended(manager, submitter.submit(warm_up(checkout)), WARM_UP_SECONDS)
        containers_before = manager.containers_allocated()
        placed_before = manager.placed_by_core()
        cpu_before = _cpu_used(cluster)
        busy_before = busy_core_seconds()
        started_ms = round(time.time() * 1000)
        with Watch(cluster) as watch:
            submitted = _submit_all(cluster, submitter, arrivals, watch, one.name, progress)
        return RoundOutcome(
            round=one,
            started_ms=started_ms,
            applications=[manager.application(application) for application in submitted],
            nodes=_with_plans(watch.nodes, journal, started_ms),
            cpu_core_s=None if cpu_before is None else (_cpu_used(cluster) or 0.0) - cpu_before,
            machine_core_s=busy_core_seconds() - busy_before,
            containers=manager.containers_allocated() - containers_before,
            placed_by_core=manager.placed_by_core() - placed_before,
            journal=[entry for entry in records(journal) if entry["time_ms"] >= started_ms],
            missed_looks=watch.missed,
            cannot_hold=cluster.cannot_hold,
            counters=manager.counters(),
            told_starts=watch.told_starts,
            advice=(
                advised(manager, checkout, folder, one.name, submitted, progress)
                if one.is_advised()
                else None
            ),
        )


def _submit_all(
    cluster: Cluster,
    submitter: Submitter,
    arrivals: list[Arrival],
    watch: Watch,
    name: str,
    progress: Progress,
) -> list[str]:
    """Returns YARN's ids. Applications that do not end in time are killed and count as failed."""
    waiting = list(arrivals)
    submitted: list[str] = []
    states: dict[str, str] = {}
    while waiting or any(states.get(one) not in END_STATES for one in submitted):
        if waiting and watch.seconds() >= waiting[0].after_seconds:
            submitted.append(submitter.submit(waiting.pop(0).application))
        cluster.check()
        states = {one["id"]: one["state"] for one in cluster.resource_manager.applications()}
        running = [one for one in submitted if states.get(one) not in END_STATES]
        if watch.seconds() > ROUND_SECONDS:
            for application in running:
                cluster.resource_manager.kill_application(application)
                wait_ended(cluster.resource_manager, application, KILL_SECONDS)
            progress(f"{name}: {len(running)} applications killed after {ROUND_SECONDS:g} s")
            break
        started = sum(states.get(one) == "RUNNING" for one in running)
        progress(
            f"{name}: {watch.seconds():4.0f} s, {len(submitted) - len(running)} finished, "
            f"{started} running, {len(running) - started} pending, {len(waiting)} to come, "
            f"{watch.containers()} containers"
        )
        time.sleep(POLL_SECONDS)
    return submitted


def _cpu_used(cluster: Cluster) -> float | None:
    if not cluster.shares:
        return None
    return sum(share.cpu_used_seconds() for share in cluster.shares)


def _with_plans(nodes: dict[str, NodeSeries], journal: Path, started_ms: int) -> list[NodeSeries]:
    for entry in records(journal, "node"):
        time_s = (entry["time_ms"] - started_ms) / 1000
        if time_s >= 0 and entry["node"] in nodes:
            point = PlanPoint(time_s, entry["planned"], entry["used"])
            nodes[entry["node"]].plan.append(point)
    return list(nodes.values())
