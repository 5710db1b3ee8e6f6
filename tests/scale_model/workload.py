"""The applications of one run of the scale model: what they ask for, do, and when they arrive."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import mean

from cluster.settings import MEBIBYTE
from scale_model.recorded import Series
from scale_model.scale import EXECUTORS_OF_A_NODE, SHAPE
from scale_model.states import State

USERS = ("ada", "grace", "edsger", "barbara")
QUEUES = {"root.etl": 0.5, "root.science": 0.3, "root.adhoc": 0.2}
"""With their guaranteed shares."""

# Heavy-tailed sizes: bounded Pareto distributions, most applications small and short.
EXECUTORS = (2, 24, 1.1)
STRETCH = (0.6, 4.0, 1.6)
# Executors of one application differ by so much in length, either way.
EXECUTOR_SPREAD = 0.05
# Runs of a recurring application differ by so much in CPU and length.
RUN_SPREAD = 0.04
RECURRING_KINDS = 15
GROWTH = 1.5
# What YARN takes to start the first executor and to see the last one end.
YARN_S = 5.0
LEAST_OVER_PEAK = 1.05
# An executor of a large application, in nodes.
LARGE_PART = 0.6
LARGE_EXECUTORS = 2
LARGE_PREFIX = "large-"
"""What the names of large applications begin with."""


@dataclass(frozen=True)
class Application:
    """One submission."""

    name: str
    user: str
    queue: str
    recurring: bool
    arrives_s: float
    memory_mb: int
    vcores: int
    series: Series
    """Of an executor, on average."""

    seen_peak_bytes: float
    """The most memory that an executor of earlier runs held."""

    stretches: tuple[float, ...]
    """Of each executor: its slots' length over the series'."""

    deadline_s: float | None = None
    """Since the submission."""

    @property
    def executors(self) -> int:
        return len(self.stretches)

    @property
    def alone_s(self) -> float:
        """How long it takes on a free cluster, without YARN's own time."""
        return self.series.length_s * max(self.stretches)


@dataclass(frozen=True)
class Kind:
    """What submissions of one application have in common."""

    name: str
    user: str
    queue: str
    runs: list[Series]
    executors: int
    stretch: float
    memory_mb: int


def arrivals(state: State, recorded: dict[str, list[Series]], seed: int) -> list[Application]:
    """The same seed gives the same applications. Recurring ones are the same for all seeds but for
    the differences between runs."""
    scaled = _scaled(state, recorded)
    kinds = _recurring(state, scaled)
    draw = random.Random(f"{state.name} {seed}")
    submissions = []
    # Half are recurring, all kinds of them equally often.
    for number in range(state.applications):
        if state.same_series:
            submissions.append((kinds[0], True))
        elif number % 2 == 0:
            submissions.append((kinds[number // 2 % len(kinds)], True))
        else:
            name = f"adhoc-{letters(seed)}-{letters(number)}"
            kind = _kind(draw, state, scaled, name, number)
            every = state.large_every
            large = every > 0 and number % every == every - 1
            submissions.append((_enlarged(kind) if large else kind, False))
    draw.shuffle(submissions)
    times = _poisson(draw, state)
    return [
        submission(draw, state, number, kind, recurring, times[number])
        for number, (kind, recurring) in enumerate(submissions)
    ]


def submission(
    draw: random.Random,
    state: State,
    number: int,
    kind: Kind,
    recurring: bool,
    arrives_s: float,
) -> Application:
    grown = recurring and state.grown_every > 0 and number % (2 * state.grown_every) < 2
    run_spread, executor_spread = (0.0, 0.0) if state.same_series else (RUN_SPREAD, EXECUTOR_SPREAD)
    series = kind.runs[0] if state.same_series else draw.choice(kind.runs)
    stretch = kind.stretch * _spread(draw, run_spread) * (GROWTH if grown else 1.0)
    cpu = _spread(draw, run_spread)
    application = Application(
        name=kind.name,
        user=kind.user,
        queue=kind.queue,
        recurring=recurring,
        arrives_s=arrives_s,
        memory_mb=kind.memory_mb,
        vcores=1,
        seen_peak_bytes=max(run.peak_memory_bytes for run in kind.runs),
        series=series.scaled(cpu=cpu, memory=1.0, network=1.0, disk=1.0, slot=stretch),
        stretches=tuple(_spread(draw, executor_spread) for _ in range(kind.executors)),
    )
    if not recurring or state.deadline_over_alone is None:
        return application
    factor = draw.uniform(*state.deadline_over_alone)
    return replace(application, deadline_s=factor * (application.alone_s + YARN_S))


def _scaled(state: State, recorded: dict[str, list[Series]]) -> dict[str, list[Series]]:
    """Scales the recorded executors so that a node that is full by request uses what the state
    says. Shapes over time, and the relations between applications, stay as recorded."""
    mean_memory = mean(mean(run.mean_memory_bytes for run in kind) for kind in recorded.values())
    low, high = state.requested_over_used
    requested = SHAPE.memory_bytes / EXECUTORS_OF_A_NODE
    cpu = cpu_factor(state, recorded)
    memory = requested / ((low + high) / 2) / mean_memory
    disk = cpu * state.disk_factor
    return {
        name: [run.scaled(cpu=cpu, memory=memory, network=cpu, disk=disk) for run in kind]
        for name, kind in recorded.items()
    }


def cpu_factor(state: State, recorded: dict[str, list[Series]]) -> float:
    """What makes a node that is full by request use what the state says of its CPU."""
    mean_cpu = mean(mean(run.mean_cpu_cores for run in kind) for kind in recorded.values())
    return state.cpu_used * SHAPE.cpu_cores / EXECUTORS_OF_A_NODE / mean_cpu


def _recurring(state: State, scaled: dict[str, list[Series]]) -> list[Kind]:
    draw = random.Random(f"{state.name} recurring")
    return [
        _kind(draw, state, scaled, f"daily-{letters(number)}", number)
        for number in range(RECURRING_KINDS)
    ]


def _kind(
    draw: random.Random, state: State, scaled: dict[str, list[Series]], name: str, number: int
) -> Kind:
    names = sorted(scaled)
    series = names[0] if state.same_series else draw.choice(names)
    runs = scaled[series]
    used = mean(run.mean_memory_bytes for run in runs)
    # Nobody requests less than earlier runs needed.
    least = LEAST_OVER_PEAK * max(run.peak_memory_bytes for run in runs)
    greedy = number % state.greedy_every == state.greedy_every - 1
    requested = least if greedy else max(least, draw.uniform(*state.requested_over_used) * used)
    return Kind(
        name=f"{series}-{name}",
        user=draw.choice(USERS),
        queue=draw.choices(list(QUEUES), list(QUEUES.values()))[0],
        runs=runs,
        executors=8 if state.same_series else round(_pareto(draw, *EXECUTORS)),
        stretch=1.0 if state.same_series else _pareto(draw, *STRETCH),
        memory_mb=math.ceil(requested / MEBIBYTE),
    )


def _enlarged(kind: Kind) -> Kind:
    """The same application with few large executors."""
    times = LARGE_PART * SHAPE.memory_mb / kind.memory_mb
    return replace(
        kind,
        name=LARGE_PREFIX + kind.name,
        runs=[run.scaled(cpu=times, memory=times, network=times, disk=times) for run in kind.runs],
        executors=LARGE_EXECUTORS,
        memory_mb=math.ceil(times * kind.memory_mb),
    )


def _poisson(draw: random.Random, state: State) -> list[float]:
    """Arrival times that end with the state's time."""
    if state.arrivals_s == 0:
        return [0.0] * state.applications
    times = list(accumulate(draw.expovariate(1.0) for _ in range(state.applications)))
    return [state.arrivals_s * (time - times[0]) / (times[-1] - times[0]) for time in times]


def _pareto(draw: random.Random, low: float, high: float, shape: float) -> float:
    """The bounded Pareto distribution, by inversion."""
    tail = 1 - (low / high) ** shape
    return low / (1 - draw.random() * tail) ** (1 / shape)


def _spread(draw: random.Random, part: float) -> float:
    return draw.uniform(1 - part, 1 + part)


def letters(number: int) -> str:
    """Names must differ by letters: numbers in them do not tell applications apart."""
    text = ""
    while True:
        text = chr(ord("a") + number % 26) + text
        number = number // 26 - 1
        if number < 0:
            return text
