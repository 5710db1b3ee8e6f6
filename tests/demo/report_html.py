"""Writes target/demo/report.html: one file that loads nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path

from demo.report_json import About
from demo.result import RoundFigures, failed, figures
from demo.rounds import NODES, SHAPE
from demo.run import RoundOutcome
from demo.series import NodeSeries
from demo.svg import Bar, Line, Measure, Plot, comparison, gantt
from demo.table import rows
from demo.truth import as_rows, claims
from demo.workloads import Arrival

MEGABYTE = 1e6
GIGABYTE = 1024**3
PLANNED, USED, BOOKED = "#d9822b", "#2563a8", "#6b4fa0"

STYLE = (Path(__file__).parent / "report.css").read_text()


def write_html(
    file: Path, about: About, outcomes: list[RoundOutcome], arrivals: list[Arrival]
) -> None:
    end_s = max(
        point.time_s for outcome in outcomes for node in outcome.nodes for point in node.points
    )
    seen = [figures(outcome) for outcome in outcomes]
    sections = "".join(_round(outcome, end_s) for outcome in outcomes)
    file.write_text(
        f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Elastane demo</title>
<style>{STYLE}</style></head>
<body><h1>The same Spark applications, scheduled in {len(outcomes)} ways</h1>
<p class="verdict">{escape(about.verdict)}</p>
{comparison(_measures(seen), ours="profiles")}
{html_table(rows(seen))}
{"" if about.quick else _advice(seen)}
<h2>What was run</h2>
{_what(about)}
{html_table(_workload(arrivals))}
{sections}
</body></html>
"""
    )


def _measures(rounds: list[RoundFigures]) -> list[Measure]:
    return [
        Measure(
            "makespan: until the last application ended",
            [(one.name, one.makespan_s) for one in rounds],
        ),
        Measure(
            "mean completion: from submission to end, over the applications",
            [(one.name, one.mean_completion_s) for one in rounds],
        ),
    ]


def _advice(seen: list[RoundFigures]) -> str:
    held = claims(seen)
    if not held:
        return ""
    return f"<h2>What mode advise had said</h2>{html_table(as_rows(held))}"


def _what(about: About) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
    shape = (
        f"{NODES} nodes of {SHAPE.cpu_cores:g} core, {SHAPE.memory_mb} MB, {SHAPE.vcores} vcores "
        f"and {SHAPE.disk_bytes_per_s / MEGABYTE:g} MB/s of disk reads each."
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in [shape, *about.notes])
    return (
        f"<ul>{notes}<li>{escape(versions)}</li><li><code>{escape(about.command)}</code></li></ul>"
    )


def _workload(arrivals: list[Arrival]) -> list[list[str]]:
    head = ["application", "arrives, s", "bound by", "script", "executors", "asked, MB each"]
    lines = [
        [
            arrival.application.name,
            f"{arrival.after_seconds:g}",
            arrival.bottleneck,
            arrival.application.script.name,
            str(arrival.application.executors),
            str(arrival.application.executor_memory_mb + 384),
        ]
        for arrival in arrivals
    ]
    return [head, *lines]


def html_table(lines: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in lines[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in lines[1:]
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _round(outcome: RoundOutcome, end_s: float) -> str:
    one = outcome.round
    nodes = "".join(
        f"<div><h3>{escape(node.name)}</h3>{_node(node, outcome, end_s)}</div>"
        for node in outcome.nodes
    )
    return f"""
<h2>{escape(one.name)}: {escape(one.scheduler)}</h2>
<p class="key"><span class="waits"></span>waits <span class="runs"></span>runs
<span class="failed"></span>fails</p>
{gantt(_bars(outcome), end_s * 1.07)}
<p class="key"><span class="used"></span>usage, measured
<span class="planned"></span>demand, planned <span class="booked"></span>booked by request
<span class="physical"></span>physical size; time in seconds</p>
<div class="nodes">{nodes}</div>"""


def _bars(outcome: RoundOutcome) -> list[Bar]:
    def since_start(milliseconds: int) -> float:
        return (milliseconds - outcome.started_ms) / 1000

    return [
        Bar(
            label=record["name"],
            from_s=since_start(record["startedTime"]),
            start_s=since_start(record["launchTime"] or record["finishedTime"]),
            end_s=since_start(record["finishedTime"]),
            failed=failed(record),
        )
        for record in outcome.applications
    ]


def _node(node: NodeSeries, outcome: RoundOutcome, end_s: float) -> str:
    held = outcome.cannot_hold is None
    times = [point.time_s for point in node.points]
    plan_times = [point.time_s for point in node.plan]

    def measured(resource: str, values: list[float], unit: float) -> Line:
        if held:
            return Line("used", USED, times, [value / unit for value in values], filled=True)
        reported = [point.used[resource] / unit for point in node.plan]
        return Line("used", USED, plan_times, reported, filled=True)

    def planned(resource: str, unit: float) -> Line:
        values = [point.planned[resource] / unit for point in node.plan]
        return Line("planned", PLANNED, plan_times, values, stepped=True)

    booked = [point.booked_memory_bytes / GIGABYTE for point in node.points]
    memory = [float(point.used_memory_bytes) for point in node.points]
    cpu = [point.used_cpu_cores for point in node.points]
    disk = [point.used_disk_bytes_per_s for point in node.points]
    containers = [float(point.containers) for point in node.points]
    size_gb = SHAPE.memory_bytes / GIGABYTE
    disk_mb = SHAPE.disk_bytes_per_s / MEGABYTE
    plots = [
        Plot(
            "CPU, cores",
            end_s,
            2 * SHAPE.cpu_cores,
            [measured("cpu_cores", cpu, 1), planned("cpu_cores", 1)],
            SHAPE.cpu_cores,
        ),
        Plot(
            "disk reads, MB/s",
            end_s,
            2 * disk_mb,
            [measured("disk_bytes_per_s", disk, MEGABYTE), planned("disk_bytes_per_s", MEGABYTE)],
            disk_mb,
        ),
        Plot(
            "memory, GiB",
            end_s,
            2.5 * size_gb,
            [
                Line("booked", BOOKED, times, booked, stepped=True),
                measured("memory_bytes", memory, GIGABYTE),
                planned("memory_bytes", GIGABYTE),
            ],
            size_gb,
        ),
        Plot(
            "containers",
            end_s,
            10,
            [Line("containers", BOOKED, times, containers, stepped=True, filled=True)],
        ),
    ]
    return "".join(plot.svg() for plot in plots)
