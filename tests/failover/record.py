"""What is written down of each switch, and what all of them come to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Switch:
    """Times are seconds since the active ResourceManager was lost."""

    number: int
    way: str
    former: str
    active: str
    active_s: float
    """Another one says that it is active."""

    in_service_s: float
    """Its core is in service, and every node is registered and its agent reports to it."""

    same_view_s: float
    """Elastane's view is YARN's."""

    raised_s: float
    """Every node is raised again, and its containers are planned by their profiles."""

    standby_s: float
    """The former one is a standby."""

    has_hung: bool
    """It hung while it stepped back, as Hadoop's own may, and was restarted."""

    containers_before: int
    containers_after: int
    """Of the applications that must survive."""

    visitors: int
    """Short applications that have succeeded so far."""

    def line(self, of: int) -> str:
        hung = f", {self.former} hung and was restarted" if self.has_hung else ""
        return (
            f"switch {self.number}/{of} {self.way} {self.former} → {self.active}"
            f" active after {self.active_s:.1f} s, in service after {self.in_service_s:.1f} s,"
            f" same view after {self.same_view_s:.1f} s, raised after {self.raised_s:.1f} s,"
            f" containers {self.containers_before} = {self.containers_after},"
            f" short applications {self.visitors}{hung}"
        )


TIMES = {
    "active_s": "active",
    "in_service_s": "in service",
    "same_view_s": "same view",
    "raised_s": "raised",
    "standby_s": "standby",
}


@dataclass(frozen=True)
class Times:
    median_s: float
    worst_s: float


def summary(switches: Sequence[Switch]) -> dict[str, dict[str, Times]]:
    """By way, and of all, the times of each step."""
    ways = {way: [one for one in switches if one.way == way] for way in _ways(switches)}
    return {way: _times(some) for way, some in {**ways, "all": list(switches)}.items()}


def text(switches: Sequence[Switch]) -> str:
    """The summary as a table: median and worst, in seconds."""
    lines = [f"{'':16}" + "".join(f"{title:>16}" for title in TIMES.values())]
    for way, times in summary(switches).items():
        cells = (f"{one.median_s:.1f} … {one.worst_s:.1f}" for one in times.values())
        lines.append(f"{way:16}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def report(
    switches: Sequence[Switch], wanted: int, problem: str | None, counters: dict[str, int]
) -> dict[str, Any]:
    return {
        "wanted": wanted,
        "done": len(switches),
        "problem": problem,
        "counters": counters,
        "hung": sum(one.has_hung for one in switches),
        "summary": {
            way: {name: asdict(one) for name, one in times.items()}
            for way, times in summary(switches).items()
        },
        "switches": [asdict(one) for one in switches],
    }


def _ways(switches: Sequence[Switch]) -> list[str]:
    return list(dict.fromkeys(one.way for one in switches))


def _times(switches: Sequence[Switch]) -> dict[str, Times]:
    if not switches:
        return {}
    columns = {name: [getattr(one, name) for one in switches] for name in TIMES}
    return {name: Times(statistics.median(all_), max(all_)) for name, all_ in columns.items()}
