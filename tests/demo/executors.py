"""When the executors of a round's applications started, by its journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# A container that ends so soon did not run: another part of YARN refused it.
REFUSED_WITHIN_MS = 100


def that_ran(journal: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of containers that were placed and not refused at once."""
    ended_ms = {one["container"]: one["time_ms"] for one in journal if one["kind"] == "finished"}

    def is_refused(entry: dict[str, Any]) -> bool:
        end_ms = ended_ms.get(entry["container"])
        return end_ms is not None and end_ms - entry["time_ms"] < REFUSED_WITHIN_MS

    return [one for one in journal if one["kind"] == "placed" and not is_refused(one)]


def executor_starts_s(
    applications: Iterable[dict[str, Any]], journal: Sequence[dict[str, Any]]
) -> list[list[float]]:
    """By application in their order, when its executors started, the first first: in seconds since
    its submission."""
    started_ms: dict[str, list[int]] = {}
    for entry in that_ran(journal):
        if not entry["application_master"]:
            started_ms.setdefault(entry["application"], []).append(entry["time_ms"])
    return [
        [(at_ms - one["startedTime"]) / 1000 for at_ms in sorted(started_ms.get(one["id"], []))]
        for one in applications
    ]
