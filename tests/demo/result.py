"""A round's figures, from its observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cluster.settings import NodeShape
from demo.advised import Advised
from demo.executors import executor_starts_s
from demo.expected_starts import ExpectedStarts, held_against_starts
from demo.rounds import SHAPE
from demo.run import RoundOutcome
from demo.series import NodeSeries, integral, total


@dataclass(frozen=True)
class OfCpuAndMemory:
    cpu: float | None
    memory: float | None


@dataclass(frozen=True)
class MostContainers:
    """The moment with the most containers on one node."""

    containers: int
    node: str
    physical_size_books: int
    """How many of that size the node's physical memory and vcores would have booked."""


@dataclass(frozen=True)
class RoundFigures:
    """A round's figures in the table and the JSON."""

    name: str
    scheduler: str
    makespan_s: float
    mean_completion_s: float
    cpu_core_s: float | None
    applications: int
    failures: int
    containers: int
    placed_by_core: int
    max_booked_over_physical: OfCpuAndMemory
    mean_booked_over_physical: OfCpuAndMemory
    """Of all nodes, over the round."""

    used_over_booked: OfCpuAndMemory
    most_containers: MostContainers
    mean_cpu_of_share: float | None
    others_mean_cores: float | None
    """What the rest of the machine used: ResourceManager, agents, and work that is not ours."""

    node_hours: float
    """Hours in which a node had a container."""

    executor_starts_s: list[list[float]]
    """By application in the order of submission, since its submission."""

    expected_starts: ExpectedStarts | None = None
    """None where no waiting application was told when it would start."""

    advised: Advised | None = None
    """What mode advise said, in an advised round."""


def figures(outcome: RoundOutcome) -> RoundFigures:
    ends = [one["finishedTime"] for one in outcome.applications]
    starts = [one["startedTime"] for one in outcome.applications]
    completions = [(end - start) / 1000 for start, end in zip(starts, ends, strict=True)]
    makespan_s = (max(ends) - min(starts)) / 1000
    cpu_core_s = outcome.cpu_core_s
    if cpu_core_s is None:
        cpu_core_s = _reported(outcome, "cpu_cores")
    node_s = len(outcome.nodes) * makespan_s
    booked = _booked(outcome)
    booked_core_s, booked_byte_s = booked
    return RoundFigures(
        name=outcome.round.name,
        scheduler=outcome.round.scheduler,
        makespan_s=makespan_s,
        mean_completion_s=sum(completions) / len(completions),
        cpu_core_s=cpu_core_s,
        applications=len(outcome.applications),
        failures=sum(failed(one) for one in outcome.applications),
        containers=outcome.containers,
        placed_by_core=outcome.placed_by_core,
        max_booked_over_physical=_max_booked(outcome),
        mean_booked_over_physical=OfCpuAndMemory(
            booked_core_s / (SHAPE.cpu_cores * node_s),
            booked_byte_s / (SHAPE.memory_bytes * node_s),
        ),
        used_over_booked=_used_over_booked(outcome, booked),
        most_containers=_most_containers(outcome.nodes, SHAPE),
        mean_cpu_of_share=None if cpu_core_s is None else cpu_core_s / (SHAPE.cpu_cores * node_s),
        others_mean_cores=(
            None if cpu_core_s is None else (outcome.machine_core_s - cpu_core_s) / makespan_s
        ),
        node_hours=total(outcome.nodes, lambda point: float(point.containers > 0)) / 3600,
        executor_starts_s=executor_starts_s(outcome.applications, outcome.journal),
        expected_starts=held_against_starts(outcome.told_starts, outcome.journal),
        advised=outcome.advice,
    )


def failed(application: dict[str, Any]) -> bool:
    return application["finalStatus"] != "SUCCEEDED"


def _max_booked(outcome: RoundOutcome) -> OfCpuAndMemory:
    """From RM REST once a second, and from the journal at each placement."""
    points = [point for node in outcome.nodes for point in node.points]
    placed = [entry for entry in outcome.journal if entry["kind"] == "placed"]
    vcores = [point.booked_vcores for point in points]
    vcores += [entry["booked_vcores"] for entry in placed]
    memory = [point.booked_memory_bytes for point in points]
    memory += [entry["booked_memory_bytes"] for entry in placed]
    return OfCpuAndMemory(max(vcores) / SHAPE.vcores, max(memory) / SHAPE.memory_bytes)


def _booked(outcome: RoundOutcome) -> tuple[float, float]:
    """Requests, integrated over the round. A vcore counts as its part of the node's physical
    cores."""
    vcore_s = total(outcome.nodes, lambda point: point.booked_vcores)
    byte_s = total(outcome.nodes, lambda point: point.booked_memory_bytes)
    return vcore_s * SHAPE.cpu_cores / SHAPE.vcores, byte_s


def _used_over_booked(outcome: RoundOutcome, booked: tuple[float, float]) -> OfCpuAndMemory:
    """Measured use over requests, both integrated over the round."""
    core_s, memory_byte_s = booked
    used_core_s, used_memory_byte_s = _used(outcome)
    return OfCpuAndMemory(
        None if used_core_s is None or not core_s else used_core_s / core_s,
        None
        if used_memory_byte_s is None or not memory_byte_s
        else used_memory_byte_s / memory_byte_s,
    )


def _used(outcome: RoundOutcome) -> tuple[float | None, float | None]:
    if outcome.cannot_hold:
        return _reported(outcome, "cpu_cores"), _reported(outcome, "memory_bytes")
    core_s = 0.0
    for node in outcome.nodes:
        times = [point.time_s for point in node.points]
        # A rate holds since the previous point.
        core_s += integral(times, [point.used_cpu_cores for point in node.points[1:]])
    return core_s, total(outcome.nodes, lambda point: point.used_memory_bytes)


def _reported(outcome: RoundOutcome, resource: str) -> float | None:
    """From the agents' reports in the journal, for nodes that are not limited."""
    if not any(node.plan for node in outcome.nodes):
        return None
    return sum(
        integral([p.time_s for p in node.plan], [p.used[resource] for p in node.plan])
        for node in outcome.nodes
    )


def _most_containers(nodes: list[NodeSeries], shape: NodeShape) -> MostContainers:
    point, node = max(
        ((point, node) for node in nodes for point in node.points),
        key=lambda pair: pair[0].containers,
    )
    count = point.containers
    if count == 0:
        return MostContainers(0, node.name, 0)
    by_memory = shape.memory_bytes * count // point.booked_memory_bytes
    by_vcores = shape.vcores * count // point.booked_vcores
    return MostContainers(count, node.name, min(by_memory, by_vcores))
