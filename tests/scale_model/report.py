"""The table at the end, report.json and report.html."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from statistics import mean, stdev

from demo.report_html import STYLE, html_table
from demo.svg import Line, Plot
from demo.table import aligned
from scale_model.contenders import CAPACITY, CONTENDERS
from scale_model.figures import RunFigures
from scale_model.run import RunOutcome
from scale_model.scale import NODES, SCALE, SHAPE
from scale_model.states import STATES

GIBIBYTE = 1024**3
USED, BOOKED = "#2563a8", "#6b4fa0"

COLUMNS: tuple[tuple[str, Callable[[RunFigures], float | None], int], ...] = (
    ("makespan, s", lambda one: one.makespan_s, 0),
    ("mean completion, s", lambda one: one.mean_completion_s, 0),
    ("p95 completion, s", lambda one: one.p95_completion_s, 0),
    ("worst slowdown", lambda one: one.worst_slowdown, 2),
    ("p95 slowdown", lambda one: one.p95_slowdown, 2),
    ("CPU used", lambda one: one.cpu_used, 2),
    ("CPU booked", lambda one: one.cpu_booked, 2),
    ("memory booked", lambda one: one.memory_booked, 2),
    ("memory used", lambda one: one.memory_used, 2),
    ("node-min CPU > 90 %", lambda one: one.full_cpu_min, 1),
    ("node-s occupied", lambda one: one.occupied_node_s, 0),
    ("CPU covered", lambda one: one.cpu_covered, 2),
    ("memory covered", lambda one: one.memory_covered, 2),
    ("kills", lambda one: one.kills, 1),
    ("of these out of memory", lambda one: one.out_of_memory_kills, 1),
    ("failures", lambda one: one.failures, 1),
    ("missed deadlines", lambda one: one.missed_deadlines if one.deadlines else None, 1),
    (
        "expected starts, median error, s",
        lambda one: one.expected_starts and one.expected_starts.median_error_s,
        1,
    ),
    (
        "expected starts, sum of errors over waits",
        lambda one: one.expected_starts and one.expected_starts.error_over_wait,
        2,
    ),
    ("CPU of all else, cores", lambda one: one.others_mean_cores, 2),
    ("simulated makespan, s", lambda one: one.simulated_makespan_s, 0),
    ("simulated completion, s", lambda one: one.simulated_mean_completion_s, 0),
    (
        "simulated missed deadlines",
        lambda one: one.simulated_missed_deadlines if one.deadlines else None,
        1,
    ),
)


def rows(runs: Sequence[RunFigures]) -> list[list[str]]:
    """A head line, then one line for each contender: means over the seeds, and the deviation of a
    single seed where there are several."""
    head = ["", "seeds", *(label for label, _, _ in COLUMNS), "makespan", "completion"]
    lines = [head]
    for name in dict.fromkeys(one.name for one in runs):
        own = [one for one in runs if one.name == name]
        cells = [_mean_and_spread([value(one) for one in own], n) for _, value, n in COLUMNS]
        against = [
            _against_capacity(own, runs, lambda one: one.makespan_s),
            _against_capacity(own, runs, lambda one: one.mean_completion_s),
        ]
        lines.append([name, str(len(own)), *cells, *against])
    return lines


def as_text(runs: Sequence[RunFigures]) -> str:
    parts = []
    for state in dict.fromkeys(one.state for one in runs):
        lines = rows([one for one in runs if one.state == state])
        parts.append(f"{state}: {STATES[state].meaning}\n\n{aligned(_transposed(lines))}")
    return "\n\n".join(parts)


def write_json(file: Path, runs: Sequence[RunFigures]) -> None:
    file.write_text(json.dumps({"runs": [asdict(one) for one in runs]}, indent=1) + "\n")


def write_html(
    file: Path, runs: Sequence[RunFigures], outcomes: Sequence[RunOutcome], command: str
) -> None:
    sections = []
    for state in dict.fromkeys(one.state for one in runs):
        of_state = [one for one in runs if one.state == state]
        sections.append(
            f"<h2>{escape(state)}</h2><p>{escape(STATES[state].meaning)}</p>"
            + html_table(_transposed(rows(of_state)))
        )
    meanings = "".join(
        f"<li><b>{escape(name)}</b>: {escape(CONTENDERS[name].meaning)}</li>"
        for name in dict.fromkeys(one.name for one in runs)
    )
    plots = "".join(_plots(outcome) for outcome in outcomes)
    file.write_text(
        f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Elastane's scale model</title>
<style>{STYLE}</style></head>
<body><h1>The same applications, scheduled in several ways</h1>
<p>{escape(about())}</p>
<p>The last two rows compare with CapacityScheduler, seed by seed. A mean ± the deviation of a
single seed.</p>
<ul>{meanings}</ul>
{"".join(sections)}
<p><code>{escape(command)}</code></p>
{plots}
</body></html>
"""
    )


def about() -> str:
    return (
        f"{NODES} nodes of {SHAPE.cpu_cores:g} core, {SHAPE.memory_mb} MB and "
        f"{SHAPE.disk_bytes_per_s / 1e6:g} MB/s of disk: 1/{SCALE} of nodes of "
        f"{SHAPE.cpu_cores * SCALE:g} cores, {SHAPE.memory_mb * SCALE / 1024:g} GB and "
        f"{SHAPE.disk_bytes_per_s * SCALE / 1e9:.2g} GB/s. Executors do the work of recorded "
        "series in their own time."
    )


def _against_capacity(
    own: Sequence[RunFigures], runs: Sequence[RunFigures], value: Callable[[RunFigures], float]
) -> str:
    base = {one.seed: value(one) for one in runs if one.name == CAPACITY.name}
    changes = [value(one) / base[one.seed] - 1 for one in own if base.get(one.seed)]
    return _percent(changes)


def _percent(changes: Sequence[float]) -> str:
    if not changes:
        return "-"
    text = f"{100 * mean(changes):+.1f}"
    return text if len(changes) < 2 else f"{text} ± {100 * stdev(changes):.1f}"


def _mean_and_spread(all_values: Sequence[float | None], digits: int) -> str:
    values = [value for value in all_values if value is not None]
    if not values:
        return "-"
    text = f"{mean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {stdev(values):.{digits}f}"


def _transposed(lines: list[list[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*lines, strict=True)]


def _plots(outcome: RunOutcome) -> str:
    end_s = max(point.time_s for node in outcome.nodes for point in node.points)
    nodes = []
    for node in outcome.nodes:
        times = [point.time_s for point in node.points]
        booked = [point.booked_memory_bytes / GIBIBYTE for point in node.points]
        used = [point.used_memory_bytes / GIBIBYTE for point in node.points]
        cpu = [point.used_cpu_cores for point in node.points]
        disk = [point.used_disk_bytes_per_s / 1e6 for point in node.points]
        containers = [float(point.containers) for point in node.points]
        size_gb = SHAPE.memory_bytes / GIBIBYTE
        plots = [
            Plot(
                "CPU, cores",
                end_s,
                1.2 * SHAPE.cpu_cores,
                [Line("used", USED, times, cpu, filled=True)],
                SHAPE.cpu_cores,
            ),
            Plot(
                "disk reads, MB/s",
                end_s,
                SHAPE.disk_bytes_per_s / 1e6,
                [Line("used", USED, times, disk, filled=True)],
            ),
            Plot(
                "memory, GiB: booked, and used",
                end_s,
                3 * size_gb,
                [
                    Line("booked", BOOKED, times, booked, stepped=True),
                    Line("used", USED, times, used, filled=True),
                ],
                size_gb,
            ),
            Plot(
                "containers",
                end_s,
                80,
                [Line("containers", BOOKED, times, containers, stepped=True, filled=True)],
            ),
        ]
        nodes.append(
            f"<div><h3>{escape(node.name)}</h3>{''.join(plot.svg() for plot in plots)}</div>"
        )
    title = f"{outcome.state.name}, {outcome.contender.name}, seed {outcome.seed}"
    return f'<h2>{escape(title)}</h2><div class="nodes">{"".join(nodes)}</div>'
