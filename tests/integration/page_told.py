"""Whether the live page tells the numbers that REST gives, for its tests."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .page_reading import mebibytes

# What fell back, and the field of the status with its number.
FALLBACKS = {
    "Commits refused by the core": "refused_commits",
    "Reports refused": "refused_reports",
    "Predictions that fell back to the request": "foreseen_by_request",
}
# The page asks every 5 s.
APART_MS = 15_000
AMOUNT = r"(\S+ [GM]iB)"
EXPECTED_START = re.compile(r"in (about|very roughly) (?:(\d+) min )?(\d+) s")
GAIN = re.compile(
    rf"Booked above physical now\n{AMOUNT}\n(?:.*\n)"
    rf"In containers of mean size\n(\d+)\n{AMOUNT} each"
)
MEMORY = re.compile(rf"Latest: used {AMOUNT}, planned {AMOUNT}, ")
WEIGHT = re.compile(r"Latest: used \S+ cores?, planned \S+ cores?, CPU weight (\S+) cores?[;.]")


def is_start_told(cell: str, start: dict[str, Any] | None) -> bool:
    """Of an application that waits: the cell of its expected start."""
    told = EXPECTED_START.fullmatch(cell)
    if told is None or start is None:
        return False
    told_ms = 1_000 * (60 * int(told[2] or 0) + int(told[3]))
    is_rough = told[1] == "very roughly"
    return is_rough == start["is_rough"] and abs(told_ms - start["in_ms"]) <= APART_MS


def is_gain_told(text: str, sizes: dict[str, Any], containers: int) -> bool:
    """Of the cluster: what was gained, by its sizes."""
    told = GAIN.search(text)
    above_mb, mean_mb = sizes["above_memory_mb"], sizes["booked_memory_mb"] / containers
    return (
        told is not None
        and _is_about(told[1], above_mb)
        and int(told[2]) == above_mb // mean_mb
        and _is_about(told[3], mean_mb)
    )


def is_use_told(text: str, least_used_mb: float) -> bool:
    """Of one container: the chart of its memory."""
    told = MEMORY.search(text)
    return told is not None and mebibytes(told[1]) >= least_used_mb


def is_weight_told(text: str, weight_cores: float) -> bool:
    """Of one container: the chart of its CPU."""
    told = WEIGHT.search(text)
    # With two digits that count.
    return told is not None and float(told[1]) == pytest.approx(weight_cores, rel=0.06)


def cpu_weight(container: dict[str, Any]) -> float | None:
    """What is planned of a container's CPU weight; nothing without one."""
    limits = {it["limit"]: it["planned"] for it in container["limits"] or []}
    return limits.get("cpu_weight_cores")


def _is_about(told: str, amount_mb: float) -> bool:
    """With three digits that count."""
    return mebibytes(told) == pytest.approx(amount_mb, rel=0.01)
