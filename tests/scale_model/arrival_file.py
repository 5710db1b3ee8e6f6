"""Recorded arrivals: who submitted what, when, and how much it asked for."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from cluster.settings import MEBIBYTE
from scale_model.recorded import BadSeries, Series
from scale_model.scale import EXECUTORS_OF_A_NODE, SHAPE
from scale_model.states import State
from scale_model.workload import QUEUES, Application, Kind, cpu_factor, letters, submission

FILE = "arrivals.csv"
HEADER = ("arrives_s", "series", "user", "queue", "recurring", "executors", "memory_mb")


@dataclass(frozen=True)
class Arrival:
    """One submission, in the sizes of the cluster that it was recorded on."""

    arrives_s: float
    series: str
    user: str
    queue: str
    recurring: bool
    executors: int
    memory_mb: float
    """Of each executor."""


def read_arrivals(folder: Path, recorded: dict[str, list[Series]]) -> list[Arrival] | None:
    """The arrivals beside the series, in the order of time; None where there is no such file."""
    file = folder / FILE
    if not file.exists():
        return None
    with file.open(newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != HEADER:
            raise BadSeries(f"{file}: the first line must be {','.join(HEADER)}")
        found = [_arrival(f"{file}: line {at}", row, recorded) for at, row in enumerate(reader, 2)]
    if not found:
        raise BadSeries(f"{file}: no arrivals; at least 1 is allowed")
    return sorted(found, key=lambda one: one.arrives_s)


def _arrival(place: str, row: dict[str, str], recorded: dict[str, list[Series]]) -> Arrival:
    def one_of(column: str, allowed: Sequence[str]) -> str:
        if row[column] not in allowed:
            raise BadSeries(f"{place}: {column} is {row[column]!r}, {', '.join(allowed)} allowed")
        return row[column]

    def number(column: str, least: float) -> float:
        try:
            value = float(row[column])
        except (TypeError, ValueError):
            value = math.nan
        if not (math.isfinite(value) and value >= least):
            raise BadSeries(f"{place}: {column} is {row[column]!r}, {least:g} and more allowed")
        return value

    return Arrival(
        arrives_s=number("arrives_s", 0),
        series=one_of("series", list(recorded)),
        user=row["user"],
        queue=one_of("queue", list(QUEUES)),
        recurring=one_of("recurring", ["yes", "no"]) == "yes",
        executors=round(number("executors", 1)),
        memory_mb=number("memory_mb", 1),
    )


def recorded_arrivals(
    state: State, recorded: dict[str, list[Series]], seed: int, planned: Sequence[Arrival]
) -> list[Application]:
    """The same for all seeds but for the runs that are replayed, and the differences between them.

    Memory is scaled so that a node full by request has as many executors as the model says."""
    draw = random.Random(f"{state.name} {seed}")
    requests = [one.memory_mb for one in planned for _ in range(one.executors)]
    memory = SHAPE.memory_bytes / EXECUTORS_OF_A_NODE / (mean(requests) * MEBIBYTE)
    cpu = cpu_factor(state, recorded)
    applications = []
    for number, one in enumerate(planned):
        runs = [
            run.scaled(cpu=cpu, memory=memory, network=cpu, disk=cpu * state.disk_factor)
            for run in recorded[one.series]
        ]
        kind = Kind(
            name=one.series if one.recurring else f"{one.series}-adhoc-{letters(number)}",
            user=one.user,
            queue=one.queue,
            runs=runs,
            executors=one.executors,
            stretch=1.0,
            memory_mb=math.ceil(one.memory_mb * memory),
        )
        applications.append(submission(draw, state, number, kind, one.recurring, one.arrives_s))
    return applications
