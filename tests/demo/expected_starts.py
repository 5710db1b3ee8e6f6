"""When waiting applications were told to start, held against when they did."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from demo.executors import that_ran


@dataclass(frozen=True)
class ToldStart:
    """What one waiting application was told at one time."""

    application: str
    at_ms: int
    expected_ms: int | None
    """When its next container is expected to start; None where that is not known."""

    is_rough: bool = False
    """Whether that depends on the end of a container whose length is not predicted."""


@dataclass(frozen=True)
class ExpectedStarts:
    """The answers whose application did start, and their error where they named a time."""

    asked: int
    applications: int
    known: float
    """The part of the answers that named a time."""

    rough: float
    """The part of these that depend on an end that is not predicted."""

    median_wait_s: float
    """That was left when it was asked."""

    median_error_s: float
    """Without its sign."""

    error_over_wait: float
    """The sum of the errors over that of the waits that were left; 1 is as good as "now"."""


def told_starts(status: dict[str, Any], at_ms: int) -> list[ToldStart]:
    """What the core's status tells each waiting application."""
    return [
        ToldStart(
            application=one["application"],
            at_ms=at_ms,
            expected_ms=at_ms + expected["in_ms"] if expected else None,
            is_rough=bool(expected and expected["is_rough"]),
        )
        for one in status.get("waiting", [])
        for expected in [one["expected_start"]]
    ]


def held_against_starts(
    told: Sequence[ToldStart], journal: Sequence[dict[str, Any]]
) -> ExpectedStarts | None:
    """None where no application that waited started."""
    starts_ms: dict[str, list[int]] = {}
    for entry in that_ran(journal):
        starts_ms.setdefault(entry["application"], []).append(entry["time_ms"])
    started: list[tuple[ToldStart, int]] = []
    for one in told:
        of_one = sorted(starts_ms.get(one.application, []))
        if (place := bisect_left(of_one, one.at_ms)) < len(of_one):
            started.append((one, of_one[place]))
    known = [
        (abs(one.expected_ms - start_ms) / 1000, (start_ms - one.at_ms) / 1000)
        for one, start_ms in started
        if one.expected_ms is not None
    ]
    if not known:
        return None
    waited_s = sum(wait_s for _, wait_s in known)
    return ExpectedStarts(
        asked=len(started),
        applications=len({one.application for one, _ in started}),
        known=len(known) / len(started),
        rough=sum(one.is_rough for one, _ in started) / len(known),
        median_wait_s=median(wait_s for _, wait_s in known),
        median_error_s=median(error_s for error_s, _ in known),
        error_over_wait=sum(error_s for error_s, _ in known) / max(waited_s, 1e-3),
    )
