"""Observations of a node over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass
class NodePoint:
    """One node at one moment."""

    time_s: float
    """Since the first submission of the round."""

    containers: int
    booked_memory_bytes: int
    booked_vcores: int
    used_cpu_cores: float
    used_memory_bytes: int
    used_disk_bytes_per_s: float


@dataclass
class PlanPoint:
    """The core's plan for a node when an agent's report arrived, and the reported use."""

    time_s: float
    planned: dict[str, float]
    used: dict[str, float]


@dataclass
class NodeSeries:
    """One node's series in one round."""

    name: str
    points: list[NodePoint] = field(default_factory=list)
    plan: list[PlanPoint] = field(default_factory=list)


def total(nodes: Sequence[NodeSeries], value: Callable[[NodePoint], float]) -> float:
    """A value's integral over time in seconds, of all nodes."""
    return sum(
        integral([point.time_s for point in node.points], [value(point) for point in node.points])
        for node in nodes
    )


def integral(times_s: list[float], values: list[float]) -> float:
    """The area under a step function."""
    steps = zip(times_s, times_s[1:], values, strict=False)
    return sum((after - before) * value for before, after, value in steps)
