"""The figures of one run of the grown application, from the journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Journal = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Windows:
    """An executor's window; lent and used are integrated from its opening to its end."""

    opened: int
    measured: int
    returned: int
    too_little_left: int
    lent_core_s: float
    used_of_lent_core_s: float


@dataclass(frozen=True)
class RunFigures:
    """One run."""

    arm: str
    completion_s: float
    """From its submission to its end."""

    executors_s: float
    """The mean time from an executor's placement to its end, without the start of the driver."""

    executors_core_s: float
    """CPU of its executors."""

    beside_cores: float
    """CPU of the other application's executors while it ran."""

    windows: Windows
    master_windows: int
    """Windows of the driver, which compete with those of the executors."""


def run_figures(arm: str, record: dict[str, Any], beside: str, journal: Journal) -> RunFigures:
    """`record` is the grown application's in RM REST, `beside` the other application's id."""
    journal = list(journal)
    grown, began_ms, ended_ms = record["id"], record["startedTime"], record["finishedTime"]
    own, master = _containers(journal, grown)
    others, _ = _containers(journal, beside)
    seconds = (ended_ms - began_ms) / 1000
    used = _core_seconds(journal, began_ms, ended_ms)
    return RunFigures(
        arm=arm,
        completion_s=seconds,
        executors_s=fmean(_lives_s(journal, own)),
        executors_core_s=sum(used.get(one, 0.0) for one in own),
        beside_cores=sum(used.get(one, 0.0) for one in others) / seconds,
        windows=windows(journal, own),
        master_windows=windows(journal, master).opened,
    )


def windows(journal: Journal, containers: set[str]) -> Windows:
    """The outcomes of these containers' windows."""
    count = dict.fromkeys(("opened", "measured", "returned", "too-little-left", "unused"), 0)
    lent_core_s = used_of_lent_core_s = 0.0
    opened: dict[str, dict[str, Any]] = {}
    for one in journal:
        if one["kind"] != "reprovision" or one["container"] not in containers:
            continue
        what, container = one["what"], one["container"]
        count[what] += 1
        if what == "opened":
            opened[container] = one
        elif what in ("measured", "returned") and container in opened:
            window = opened.pop(container)
            seconds = (one["time_ms"] - window["time_ms"]) / 1000
            lent_core_s += window["lent"]["cpu_cores"] * seconds
            if what == "measured":
                beyond = one["used"]["cpu_cores"] - one["predicted"]["cpu_cores"]
                used_of_lent_core_s += max(0.0, beyond) * seconds
    return Windows(
        opened=count["opened"],
        measured=count["measured"],
        returned=count["returned"],
        too_little_left=count["too-little-left"],
        lent_core_s=lent_core_s,
        used_of_lent_core_s=used_of_lent_core_s,
    )


def _containers(journal: Journal, application: str) -> tuple[set[str], set[str]]:
    """Executors and application master."""
    placed = [
        one for one in journal if one["kind"] == "placed" and one["application"] == application
    ]
    master = {one["container"] for one in placed if one["application_master"]}
    return {one["container"] for one in placed} - master, master


def _lives_s(journal: Journal, containers: set[str]) -> list[float]:
    times: dict[str, list[int]] = {one: [] for one in containers}
    for one in journal:
        if one["kind"] in ("placed", "finished") and one["container"] in times:
            times[one["container"]].append(one["time_ms"])
    return [(both[-1] - both[0]) / 1000 for both in times.values()]


def _core_seconds(journal: Journal, from_ms: int, to_ms: int) -> dict[str, float]:
    """CPU time by container; a report covers the time since the node's previous report."""
    used: dict[str, float] = {}
    reported_ms: dict[str, int] = {}
    for one in journal:
        if one["kind"] != "node":
            continue
        now_ms = one["time_ms"]
        before_ms = max(reported_ms.get(one["node"], now_ms), from_ms)
        reported_ms[one["node"]] = now_ms
        if before_ms < now_ms <= to_ms:
            for container in one["containers"]:
                core_s = container["used"]["cpu_cores"] * (now_ms - before_ms) / 1000
                used[container["container"]] = used.get(container["container"], 0.0) + core_s
    return used
