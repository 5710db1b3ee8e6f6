"""What SLS measured, and the line that compares two schedulers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LEAST_HEARTBEATS = 0.9
"""Of a node, a second."""


@dataclass(frozen=True)
class Figures:
    """One scheduler under the load; `LoadFigures.java` writes them."""

    containers_per_s: float
    cpu_us_of_container: float
    """CPU time of all heartbeats, for each container placed."""
    p99_us: float
    longest_ms: float
    longest_cpu_ms: float
    over_millisecond: int
    cpu_over_millisecond: int
    heartbeats_per_s: float
    checks: int
    counters: Mapping[str, int]
    failures: tuple[str, ...]

    @classmethod
    def parse(cls, written: Mapping[str, Any]) -> Figures:
        return cls(
            containers_per_s=written["containersPerSecond"],
            cpu_us_of_container=written["cpuUsOfContainer"],
            p99_us=written["p99Us"],
            longest_ms=written["longestMs"],
            longest_cpu_ms=max((one["cpuMs"] for one in written["longest"]), default=0.0),
            over_millisecond=written["overMillisecond"],
            cpu_over_millisecond=written["cpuOverMillisecond"],
            heartbeats_per_s=written["heartbeatsPerSecond"],
            checks=written["checks"],
            counters=written["elastane"],
            failures=tuple(written["failures"]),
        )

    def is_slow(self, nodes: int) -> bool:
        """Whether heartbeats came late, so that the machine and not the scheduler was measured."""
        return self.heartbeats_per_s < LEAST_HEARTBEATS * nodes


def line(nodes: int, capacity: Figures, elastane: Figures) -> str:
    """`longest_ms` and what follows are Elastane's, unless they are named otherwise."""
    return " ".join(
        [
            f"sls nodes={nodes}",
            f"capacity_per_s={capacity.containers_per_s:.0f}",
            f"elastane_per_s={elastane.containers_per_s:.0f}",
            f"ratio={_ratio(elastane.containers_per_s, capacity.containers_per_s):.3f}",
            f"longest_ms={elastane.longest_ms:.2f}",
            f"longest_cpu_ms={elastane.longest_cpu_ms:.2f}",
            f"over_1ms={elastane.over_millisecond}",
            f"cpu_over_1ms={elastane.cpu_over_millisecond}",
            f"p99_us={elastane.p99_us:.0f}",
            f"capacity_longest_ms={capacity.longest_ms:.2f}",
            f"capacity_longest_cpu_ms={capacity.longest_cpu_ms:.2f}",
            f"capacity_over_1ms={capacity.over_millisecond}",
            f"capacity_cpu_over_1ms={capacity.cpu_over_millisecond}",
            f"capacity_p99_us={capacity.p99_us:.0f}",
            f"cpu_ratio={_ratio(elastane.cpu_us_of_container, capacity.cpu_us_of_container):.2f}",
            f"heartbeats_per_s={elastane.heartbeats_per_s:.0f}",
            f"capacity_heartbeats_per_s={capacity.heartbeats_per_s:.0f}",
            f"rounds={elastane.counters['Rounds']}",
            f"left_rounds={elastane.counters['RoundsLeftToCapacityScheduler']}",
            f"reports={elastane.counters['Reports']}",
            f"checks={elastane.checks}",
        ]
    )


def _ratio(elastane: float, capacity: float) -> float:
    """Nothing was placed if either is 0."""
    return elastane / capacity if capacity else float("nan")
