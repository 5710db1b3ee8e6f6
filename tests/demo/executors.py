"""When the executors of a round's applications started, by its journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# A container that ends so soon did not run: another part of YARN refused it.
REFUSED_WITHIN_MS = 100


def executor_starts_s(
    applications: Iterable[dict[str, Any]], journal: list[dict[str, Any]]
) -> list[list[float]]:
    """By application in their order, when its executors started, the first first: in seconds since
    its submission."""
    ended_ms = {one["container"]: one["time_ms"] for one in journal if one["kind"] == "finished"}
    started_ms: dict[str, list[int]] = {}
    for entry in journal:
        if entry["kind"] != "placed" or entry["application_master"]:
            continue
        at_ms = entry["time_ms"]
        if ended_ms.get(entry["container"], at_ms + REFUSED_WITHIN_MS) - at_ms >= REFUSED_WITHIN_MS:
            started_ms.setdefault(entry["application"], []).append(at_ms)
    return [
        [(at_ms - one["startedTime"]) / 1000 for at_ms in sorted(started_ms.get(one["id"], []))]
        for one in applications
    ]
