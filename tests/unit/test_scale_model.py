"""The scale model's applications, and the figures of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from cluster.settings import MEBIBYTE
from demo.expected_starts import ToldStart, held_against_starts
from demo.series import NodePoint, NodeSeries
from scale_model.arrival_file import FILE, read_arrivals, recorded_arrivals
from scale_model.contenders import CONTENDERS
from scale_model.driver import requested_mb
from scale_model.figures import figures
from scale_model.recorded import BadSeries, Series, read_folder, read_series
from scale_model.report import rows, write_html, write_json
from scale_model.resizer import NodeUse, Optimizer, watermarks
from scale_model.run import RunOutcome
from scale_model.scale import EXECUTORS_OF_A_NODE, SHAPE
from scale_model.simulated_changes import parser
from scale_model.states import DEADLINES, GROWN, LARGE, LOCK_STEP, MEMORY_BOUND, State
from scale_model.workload import GROWTH, LARGE_PREFIX, YARN_S, Application, arrivals

HEADER = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s\n"


@pytest.fixture
def recorded() -> dict[str, list[Series]]:
    flat = Series(3.0, (0.2,) * 20, (3e8,) * 20, (0.0,) * 20, (1e6,) * 20)
    busy = flat.scaled(cpu=3.0, memory=2.0, network=1.0, disk=0.0)
    return {"busy": [busy], "flat": [flat, flat]}


def test_a_seed_always_gives_the_same_applications(recorded: dict[str, list[Series]]) -> None:
    first = arrivals(MEMORY_BOUND, recorded, 7)
    assert first == arrivals(MEMORY_BOUND, recorded, 7)
    assert first != arrivals(MEMORY_BOUND, recorded, 8)


def test_half_are_recurring_and_the_same_on_all_days(recorded: dict[str, list[Series]]) -> None:
    def recurring(seed: int) -> dict[str, tuple[str, str, int, int]]:
        return {
            one.name: (one.user, one.queue, one.memory_mb, one.executors)
            for one in arrivals(MEMORY_BOUND, recorded, seed)
            if one.recurring
        }

    applications = arrivals(MEMORY_BOUND, recorded, 1)
    assert sum(one.recurring for one in applications) == len(applications) // 2
    assert recurring(1) == recurring(2)
    others = {one.name for one in applications if not one.recurring}
    assert len(others) == len(applications) // 2, "each has a name of its own"
    assert not any(character.isdigit() for name in others for character in name)


def test_a_node_full_by_request_is_used_as_the_state_says(
    recorded: dict[str, list[Series]],
) -> None:
    many = replace(MEMORY_BOUND, applications=2000)
    applications = arrivals(many, recorded, 1)
    cpu = [one.series.mean_cpu_cores for one in applications]
    expected = MEMORY_BOUND.cpu_used * SHAPE.cpu_cores / EXECUTORS_OF_A_NODE
    assert mean(cpu) == pytest.approx(expected, rel=0.25)
    for one in applications:
        assert one.series.peak_memory_bytes < one.memory_mb * 1024 * 1024
    over = [one.memory_mb * 2**20 / one.series.mean_memory_bytes for one in applications]
    assert 1.9 < mean(over) < 2.4


def test_one_application_in_twenty_uses_all_that_it_requests(
    recorded: dict[str, list[Series]],
) -> None:
    applications = arrivals(replace(MEMORY_BOUND, applications=400), recorded, 1)
    greedy = [one for one in applications if one.memory_mb * MEBIBYTE < 1.1 * one.seen_peak_bytes]
    assert len(greedy) == 20
    assert not any(one.recurring for one in greedy), "nobody has seen them before"


ARRIVALS = """\
arrives_s,series,user,queue,recurring,executors,memory_mb
30,flat,ada,root.etl,yes,3,4000
5,busy,grace,root.adhoc,no,1,8000
40,flat,ada,root.etl,yes,2,4000
"""


def test_recorded_arrivals_come_as_they_were(
    recorded: dict[str, list[Series]], tmp_path: Path
) -> None:
    (tmp_path / FILE).write_text(ARRIVALS)
    planned = read_arrivals(tmp_path, recorded)
    assert planned is not None
    busy, first, second = recorded_arrivals(MEMORY_BOUND, recorded, 1, planned)
    assert [one.arrives_s for one in (busy, first, second)] == [5, 30, 40]
    assert (first.user, first.queue, first.executors) == ("ada", "root.etl", 3)
    assert first.name == second.name, "recurring ones are one application"
    assert (busy.recurring, busy.name) == (False, "busy-adhoc-a")
    # Six executors request 28,000 MB; on average one takes a twentieth of a node.
    mean_mb = SHAPE.memory_bytes / EXECUTORS_OF_A_NODE / 2**20
    assert first.memory_mb == pytest.approx(4000 / (28_000 / 6) * mean_mb, abs=1)
    ratio = first.memory_mb * 2**20 / first.series.mean_memory_bytes
    assert ratio == pytest.approx(4000 * 2**20 / 3e8, rel=0.05), "request over use stays"


def test_without_a_file_arrivals_are_drawn(
    recorded: dict[str, list[Series]], tmp_path: Path
) -> None:
    assert read_arrivals(tmp_path, recorded) is None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x,flat,ada,root.etl,yes,3,4000", "line 2: arrives_s is 'x', 0 and more allowed"),
        ("-1,flat,ada,root.etl,yes,3,4000", "line 2: arrives_s is '-1', 0 and more allowed"),
        ("1,calm,ada,root.etl,yes,3,4000", "line 2: series is 'calm', busy, flat allowed"),
        ("1,flat,ada,etl,yes,3,4000", "line 2: queue is 'etl', root.etl, "),
        ("1,flat,ada,root.etl,1,3,4000", "line 2: recurring is '1', yes, no allowed"),
        ("1,flat,ada,root.etl,yes,0,4000", "line 2: executors is '0', 1 and more allowed"),
        ("1,flat,ada,root.etl,yes,3", "line 2: memory_mb is None, 1 and more allowed"),
        ("", "no arrivals; at least 1 is allowed"),
    ],
)
def test_a_bad_arrival_is_named(
    recorded: dict[str, list[Series]], tmp_path: Path, line: str, problem: str
) -> None:
    (tmp_path / FILE).write_text(ARRIVALS.splitlines()[0] + "\n" + line)
    with pytest.raises(BadSeries) as raised:
        read_arrivals(tmp_path, recorded)
    assert f"{tmp_path / FILE}: {problem}" in str(raised.value)


def test_executors_in_lock_step_are_all_alike(recorded: dict[str, list[Series]]) -> None:
    applications = arrivals(LOCK_STEP, recorded, 1)
    assert len({(one.series, one.stretches, one.arrives_s) for one in applications}) == 1


def test_one_in_ten_recurring_applications_has_grown(recorded: dict[str, list[Series]]) -> None:
    def lengths(state: State) -> list[float]:
        return [one.series.slot_s for one in arrivals(state, recorded, 1) if one.recurring]

    usual = lengths(replace(GROWN, grown_every=0))
    grown = [b / a for a, b in zip(usual, lengths(GROWN), strict=True)]
    assert 0.05 < sum(factor == pytest.approx(GROWTH) for factor in grown) / len(grown) < 0.2


def test_one_in_18_applications_has_large_executors(recorded: dict[str, list[Series]]) -> None:
    applications = arrivals(LARGE, recorded, 1)
    large = [one for one in applications if one.name.startswith(LARGE_PREFIX)]
    assert len(large) == LARGE.applications // 18
    for one in large:
        assert one.memory_mb == pytest.approx(0.6 * SHAPE.memory_mb, abs=1)
        assert one.series.peak_memory_bytes < one.memory_mb * MEBIBYTE
        assert one.executors == 2


def test_right_sizing_asks_for_what_earlier_runs_used(recorded: dict[str, list[Series]]) -> None:
    for one in arrivals(MEMORY_BOUND, recorded, 1):
        asked = requested_mb(CONTENDERS["right-sized"], one)
        assert requested_mb(CONTENDERS["capacity"], one) == one.memory_mb
        assert asked * 2**20 >= one.series.peak_memory_bytes
        assert (asked < one.memory_mb) == one.recurring


def test_a_bad_series_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text(HEADER + "0,1,2,3,4\n3,1,x,3,4\n")
    with pytest.raises(BadSeries, match=r"one.csv: line 3"):
        read_series(file)
    file.write_text("t,cpu\n")
    with pytest.raises(BadSeries, match="the first line"):
        read_series(file)
    with pytest.raises(BadSeries, match="no folder"):
        read_folder(tmp_path)


def test_a_series_is_written_as_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    series = Series(3.0, (0.25, 0.5), (1e6, 2e6), (0.0, 10.0), (5.0, 0.0))
    series.write(file)
    assert read_series(file) == series


def test_resampling_keeps_the_work_and_the_peak_of_memory() -> None:
    series = Series(2.0, (0.5, 0.1, 0.3), (1e6, 9e6, 2e6), (0.0,) * 3, (6.0, 0.0, 0.0))
    resampled = series.resampled(3.0)
    assert resampled.cpu_cores == pytest.approx(((0.5 * 2 + 0.1) / 3, (0.1 + 0.3 * 2) / 3))
    assert resampled.memory_bytes == (9e6, 9e6)
    assert resampled.disk_bytes_per_s == pytest.approx((4.0, 0.0))
    assert series.resampled(4.0).cpu_cores == pytest.approx((0.3, 0.3))
    assert series.resampled(2.0) == series


def test_watermarks_give_back_what_is_used() -> None:
    sizes = [watermarks("n", NodeUse(used, 1.2)) for used in (0.0, 0.6, 0.7, 0.8, 0.95)]
    assert sizes == pytest.approx([1.5, 1.5, 1.25, 1.0, 1.0])


def test_the_optimizer_stops_after_three_cycles_and_goes_on_when_there_is_room() -> None:
    rule = Optimizer()
    sizes = [rule("n", NodeUse(used, 1.3)) for used in (0.9, 0.9, 0.9, 0.9, 0.5)]
    assert sizes == [1.5, 1.5, 1.3, 1.3, 1.5]
    assert rule("other", NodeUse(0.9, 1.3)) == 1.5, "each node by itself"


@pytest.fixture
def outcome() -> RunOutcome:
    series = Series(3.0, (0.1, 0.1), (1e6, 1e6), (0.0, 0.0), (0.0, 0.0))
    one = Application("a", "ada", "root.etl", False, 0.0, 32, 1, series, 1e6, (1.0, 1.0))
    events = [
        {"time_s": 1.0, "event": "submitted", "application": 0},
        {"time_s": 3.0, "event": "submitted", "application": 1},
        {"time_s": 9.0, "event": "ended", "application": 0, "exit_status": 137},
        {"time_s": 11.0, "event": "finished", "application": 0},
        {"time_s": 21.0, "event": "failed", "application": 1},
    ]
    executors = [
        {"name": "0/0", "taken_s": 6.0, "undisturbed_s": 6.0},
        {"name": "0/1", "taken_s": 9.0, "undisturbed_s": 6.0},
    ]
    points = [
        NodePoint(0.0, 1, SHAPE.memory_bytes, 1, 0.0, 0, 0.0),
        NodePoint(15.0, 0, 0, 0, 0.0, 0, 0.0),
        NodePoint(60.0, 1, SHAPE.memory_bytes, 1, 0.5, SHAPE.memory_bytes // 2, 0.0),
    ]
    return RunOutcome(
        state=MEMORY_BOUND,
        contender=CONTENDERS["x2"],
        seed=1,
        applications=[replace(one, deadline_s=10.0), replace(one, deadline_s=100.0)],
        events=events,
        executors=executors,
        nodes=[NodeSeries("node-0", points)],
        cpu_core_s=5.0,
        machine_core_s=7.0,
        out_of_memory_kills=1,
        counters={},
        depository=Path("unused"),
    )


def test_figures_of_a_run(outcome: RunOutcome) -> None:
    result = figures(outcome)
    assert result.makespan_s == 20.0
    assert result.mean_completion_s == 14.0
    assert result.worst_slowdown == 1.25
    assert result.cpu_used == pytest.approx(5.0 / (SHAPE.cpu_cores * 20.0))
    assert result.cpu_booked == pytest.approx(15.0 / (SHAPE.vcores * 20.0))
    assert result.memory_booked == pytest.approx(15.0 / 20.0)
    assert result.occupied_node_s == 15.0
    assert result.full_cpu_min == 0.75
    assert (result.kills, result.out_of_memory_kills, result.failures) == (1, 1, 1)
    assert (result.deadlines, result.missed_deadlines) == (2, 1), "what failed has missed its own"


def test_the_reports_have_each_run_its_figures_and_a_plot_of_each_node(
    outcome: RunOutcome, tmp_path: Path
) -> None:
    base = figures(replace(outcome, contender=CONTENDERS["capacity"]))
    half = replace(base, name="x2", makespan_s=10.0, mean_completion_s=7.0)
    write_json(tmp_path / "report.json", [base, half])
    runs = json.loads((tmp_path / "report.json").read_text())["runs"]
    assert [(one["name"], one["makespan_s"]) for one in runs] == [("capacity", 20.0), ("x2", 10.0)]
    assert runs[0].keys() >= {
        "state",
        "name",
        "seed",
        "makespan_s",
        "mean_completion_s",
        "p95_completion_s",
        "worst_slowdown",
        "kills",
        "failures",
        "simulated_makespan_s",
        "simulated_mean_completion_s",
    }
    write_html(tmp_path / "report.html", [base, half], [outcome], "make bench-cluster")
    page = (tmp_path / "report.html").read_text()
    assert page.count("-50.0") == 2, "makespan and completion against CapacityScheduler"
    assert "<h3>node-0</h3>" in page
    assert page.count("<svg") == 4, "CPU, disk, memory and containers of the node"


def test_the_table_has_the_spread_of_several_seeds(outcome: RunOutcome) -> None:
    base = figures(replace(outcome, contender=CONTENDERS["capacity"]))
    head, row = rows([base, replace(base, seed=2, makespan_s=30.0)])
    assert row[head.index("seeds")] == "2"
    assert row[head.index("makespan, s")] == "25 ± 7"


def test_the_table_has_the_error_of_expected_starts(outcome: RunOutcome) -> None:
    started = {"kind": "placed", "application": "a", "container": "a-1", "time_ms": 11_000}
    starts = held_against_starts([ToldStart("a", 1_000, 6_000)], [started])
    head, without, row = rows(
        [
            figures(replace(outcome, contender=CONTENDERS["capacity"])),
            figures(replace(outcome, expected_starts=starts)),
        ]
    )
    error, over_wait = (
        head.index(f"expected starts, {what}")
        for what in ("median error, s", "sum of errors over waits")
    )
    assert (without[error], without[over_wait]) == ("-", "-")
    assert (row[error], row[over_wait]) == ("5.0", "0.50")


def test_recurring_applications_have_the_deadlines_that_the_state_says(
    recorded: dict[str, list[Series]],
) -> None:
    applications = arrivals(DEADLINES, recorded, 1)
    assert all((one.deadline_s is not None) == one.recurring for one in applications)
    over = [
        one.deadline_s / (one.alone_s + YARN_S)
        for one in applications
        if one.deadline_s is not None
    ]
    assert min(over) >= 1.2 and max(over) <= 3.0
    undated = arrivals(MEMORY_BOUND, recorded, 1)
    assert all(one.deadline_s is None for one in undated)


@pytest.mark.parametrize("seeds", ["0", "-1", "many", "1.5"])
def test_a_number_of_seeds_that_is_none_is_refused_with_what_is_allowed(
    seeds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser("scale_model.ablation", None, [], seeds=1).parse_args([f"--seeds={seeds}"])
    assert f"--seeds: {seeds}, a whole number from 1 on is allowed" in capsys.readouterr().err
