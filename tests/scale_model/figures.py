"""A run's figures, from its observations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from demo.expected_starts import ExpectedStarts
from demo.series import total
from scale_model.run import RunOutcome
from scale_model.scale import SHAPE
from scale_model.simulation import Simulated

FULL = 0.9


@dataclass(frozen=True)
class RunFigures:
    """The columns of the table, and the keys of report.json."""

    state: str
    name: str
    seed: int
    makespan_s: float
    """From the first submission to the last end."""

    mean_completion_s: float
    p95_completion_s: float
    worst_slowdown: float
    """Of the job whose executors took longest, in the mean, over their time on a free node."""

    p95_slowdown: float
    cpu_used: float
    """Of the nodes' CPU, until the last end."""

    cpu_booked: float
    """Virtual cores over those of the nodes' physical size."""

    memory_booked: float
    """Over the physical memory; above 1 where more is booked than there is."""

    memory_used: float
    full_cpu_min: float
    """Node-minutes with more than nine tenths of the CPU used."""

    occupied_node_s: float
    """Node-seconds with a container: an empty node could be switched off."""

    kills: int
    """Executors that ended badly and began anew."""

    out_of_memory_kills: int
    cpu_covered: float | None
    memory_covered: float | None
    """The parts of the time of containers planned by a profile in which their use was at most the
    planned one with its margin; None where none was."""

    failures: int
    others_mean_cores: float
    """What the rest of the machine used: YARN's daemons, agents, the driver, and other work."""

    expected_starts: ExpectedStarts | None
    """None where no waiting application was told when it would start."""

    deadlines: int
    """Applications with a deadline."""

    missed_deadlines: int
    simulated_makespan_s: float | None
    simulated_mean_completion_s: float | None
    simulated_missed_deadlines: float | None
    """In the simulator; None where it has no such policy."""


def figures(outcome: RunOutcome, simulated: Simulated | None = None) -> RunFigures:
    submitted = {e["application"]: e["time_s"] for e in outcome.events if e["event"] == "submitted"}
    finished = {e["application"]: e["time_s"] for e in outcome.events if e["event"] == "finished"}
    last = max((event["time_s"] for event in outcome.events), default=0.0)
    ends = {number: finished.get(number, last) for number in submitted}
    completions = sorted(ends[number] - begin for number, begin in submitted.items())
    makespan_s = max(ends.values()) - min(submitted.values())
    deadlines = {
        number: one.deadline_s
        for number, one in enumerate(outcome.applications)
        if one.deadline_s is not None
    }
    slowdowns = sorted(_slowdowns(outcome))
    nodes = outcome.nodes
    node_s = len(nodes) * makespan_s
    physical = SHAPE.memory_bytes * node_s
    return RunFigures(
        state=outcome.state.name,
        name=outcome.contender.name,
        seed=outcome.seed,
        makespan_s=makespan_s,
        mean_completion_s=sum(completions) / len(completions),
        p95_completion_s=quantile(completions, 0.95),
        worst_slowdown=slowdowns[-1] if slowdowns else 0.0,
        p95_slowdown=quantile(slowdowns, 0.95) if slowdowns else 0.0,
        cpu_used=outcome.cpu_core_s / (SHAPE.cpu_cores * node_s),
        cpu_booked=total(nodes, lambda point: point.booked_vcores) / (SHAPE.vcores * node_s),
        memory_booked=total(nodes, lambda point: point.booked_memory_bytes) / physical,
        memory_used=total(nodes, lambda point: point.used_memory_bytes) / physical,
        full_cpu_min=_full_cpu_min(outcome),
        occupied_node_s=total(nodes, lambda point: point.containers > 0),
        kills=sum(e["event"] == "ended" and e["exit_status"] != 0 for e in outcome.events),
        out_of_memory_kills=outcome.out_of_memory_kills,
        cpu_covered=_covered(outcome, "Cpu"),
        memory_covered=_covered(outcome, "Memory"),
        failures=len(outcome.applications) - len(finished),
        others_mean_cores=(outcome.machine_core_s - outcome.cpu_core_s) / makespan_s,
        expected_starts=outcome.expected_starts,
        deadlines=len(deadlines),
        missed_deadlines=sum(
            number not in finished or finished[number] - submitted[number] > deadline_s
            for number, deadline_s in deadlines.items()
        ),
        simulated_makespan_s=simulated and simulated.makespan_s,
        simulated_mean_completion_s=simulated and simulated.mean_completion_s,
        simulated_missed_deadlines=simulated and simulated.missed_deadlines,
    )


def _covered(outcome: RunOutcome, resource: str) -> float | None:
    predicted_s = outcome.counters.get("PredictedSeconds", 0)
    return outcome.counters[f"{resource}CoveredSeconds"] / predicted_s if predicted_s else None


def quantile(values: list[float], part: float) -> float:
    """Of sorted values: the smallest that at least this part does not exceed."""
    return values[min(len(values) - 1, int(part * len(values)))]


def _slowdowns(outcome: RunOutcome) -> list[float]:
    """Of each job. An executor that was killed counts by the attempt that did its work."""
    by_application: dict[str, list[float]] = defaultdict(list)
    for executor in outcome.executors:
        job = executor["name"].partition("/")[0]
        by_application[job].append(executor["taken_s"] / executor["undisturbed_s"])
    return [sum(all_of) / len(all_of) for all_of in by_application.values()]


def _full_cpu_min(outcome: RunOutcome) -> float:
    seconds = 0.0
    for node in outcome.nodes:
        for before, point in zip(node.points, node.points[1:], strict=False):
            if point.used_cpu_cores > FULL * SHAPE.cpu_cores:
                seconds += point.time_s - before.time_s
    return seconds / 60
