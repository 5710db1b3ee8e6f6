"""What executors used by the journal, and what was learned of them by the depository."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from cluster.journal import records

FIRST_S = 30.0


@dataclass(frozen=True)
class Figures:
    """The figures of an application's executors, by the clock or as learned."""

    length_s: float
    first_cores: float
    """CPU used in the first 30 s of its processes, on average."""

    @staticmethod
    def mean(several: Iterable[Figures]) -> Figures:
        several = list(several)
        return Figures(
            mean(one.length_s for one in several), mean(one.first_cores for one in several)
        )


@dataclass(frozen=True)
class Row:
    """One application."""

    name: str
    free: Figures
    """Measured on a node of its own."""

    crowded: Figures
    """Measured beside others."""

    from_free: Figures
    from_crowded: Figures
    """Learned from either."""

    def error(self, learned: Figures, figure: Callable[[Figures], float]) -> float:
        return figure(learned) / figure(self.free) - 1


COLUMNS: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("length, s", lambda one: one.length_s),
    ("CPU in the first 30 s, cores", lambda one: one.first_cores),
)
WAYS: tuple[tuple[str, Callable[[Row], Figures]], ...] = (
    ("measured beside others", lambda row: row.crowded),
    ("learned beside others", lambda row: row.from_crowded),
    ("learned alone", lambda row: row.from_free),
)


@dataclass(frozen=True)
class Comparison:
    rows: Mapping[int, Sequence[Row]]
    """By the number of applications at a time."""

    def text(self) -> str:
        return "\n\n".join(
            _table(crowd, rows, figure, value)
            for crowd, rows in self.rows.items()
            for figure, value in COLUMNS
        )


def _table(crowd: int, rows: Sequence[Row], figure: str, value: Callable[[Figures], float]) -> str:
    heads = "".join(f"{way:>24}" for way, _ in WAYS)
    lines = [f"{figure}: alone, and against that, with {crowd} at a time", f"{'':30}{heads}"]
    for row in rows:
        errors = "".join(f"{row.error(of(row), value):>+24.1%}" for _, of in WAYS)
        lines.append(f"{row.name:22}{value(row.free):>8.2f}{errors}")
    means = [mean(abs(row.error(of(row), value)) for row in rows) for _, of in WAYS]
    lines.append(f"{'mean error':30}" + "".join(f"{one:>24.1%}" for one in means))
    return "\n".join(lines)


def read(
    exported: Path, journal: Path, free: Sequence[str], crowded: Mapping[int, Sequence[str]]
) -> Comparison:
    """Applications are given by their ids, `crowded` by the number at a time."""
    names, measured = _measured(journal)
    learned = _learned(exported)

    def row(name: str, beside_others: Sequence[str]) -> Row:
        alone, beside = (
            [one for one in ids if names[one] == name] for ids in (free, beside_others)
        )
        ways = ((measured, alone), (measured, beside), (learned, alone), (learned, beside))
        return Row(name, *(Figures.mean(of[one] for one in ids) for of, ids in ways))

    applications = dict.fromkeys(names[one] for one in free)
    return Comparison(
        {crowd: [row(one, ids) for one in applications] for crowd, ids in crowded.items()}
    )


def _measured(journal: Path) -> tuple[dict[str, str], dict[str, Figures]]:
    """Names, and figures by the clock, of all applications."""
    names: dict[str, str] = {}
    started_ms: dict[str, int] = {}
    application: dict[str, str] = {}
    samples: dict[str, list[_Sample]] = defaultdict(list)
    executors: dict[str, list[Figures]] = defaultdict(list)
    for one in records(journal):
        if one["kind"] == "placed":
            names[one["application"]] = one["application_name"]
            if not one["application_master"]:
                started_ms[one["container"]] = one["time_ms"]
                application[one["container"]] = one["application"]
        elif one["kind"] == "node":
            for container in one["containers"]:
                from_ms = one["time_ms"] - container["sample_ms"]
                sample = _Sample(from_ms, one["time_ms"], container["used"]["cpu_cores"])
                samples[container["container"]].append(sample)
        elif one["kind"] == "finished":
            start_ms, used = started_ms.get(one["container"]), samples[one["container"]]
            if start_ms is not None and used:
                executor = _figures(start_ms, one["time_ms"], used)
                executors[application[one["container"]]].append(executor)
    return names, {one: Figures.mean(several) for one, several in executors.items()}


@dataclass(frozen=True)
class _Sample:
    from_ms: float
    to_ms: float
    cores: float


def _figures(start_ms: int, end_ms: int, samples: list[_Sample]) -> Figures:
    # Its processes start with the first sample; after the last one nothing is measured.
    until_ms = min(samples[-1].to_ms, samples[0].from_ms + FIRST_S * 1e3)
    core_ms = sum(one.cores * max(0.0, min(one.to_ms, until_ms) - one.from_ms) for one in samples)
    return Figures((end_ms - start_ms) / 1e3, core_ms / (until_ms - samples[0].from_ms))


def _learned(exported: Path) -> dict[str, Figures]:
    learned = {}
    for run in json.loads(exported.read_text())["runs"]:
        series = [one for one in run["series"] if one["kind"] == "executor"]
        learned[run["application_id"]] = Figures.mean(
            Figures(
                len(one["cpu_cores"]) * one["slot_ms"] / 1e3,
                mean(one["cpu_cores"][: round(FIRST_S * 1e3 / one["slot_ms"])]),
            )
            for one in series
        )
    return learned
