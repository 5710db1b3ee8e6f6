"""The figures of a run of the grown application, and of pairs of runs."""

from __future__ import annotations

from typing import Any

import pytest

from reprovisioning.figures import RunFigures, Windows, run_figures
from reprovisioning.summary import Pair, Ratio, Summary

GROWN = "application_1_0003"
BESIDE = "application_1_0002"
RECORD = {"id": GROWN, "startedTime": 10_000, "finishedTime": 20_000}


def cpu(cores: float) -> dict[str, float]:
    return {"cpu_cores": cores}


def placed(application: str, container: str, application_master: bool = False) -> dict[str, Any]:
    return {
        "kind": "placed",
        "time_ms": 11_000,
        "application": application,
        "container": container,
        "application_master": application_master,
    }


def report(time_ms: int, **cores: float) -> dict[str, Any]:
    containers = [{"container": one, "used": cpu(used)} for one, used in cores.items()]
    return {"kind": "node", "node": "n", "time_ms": time_ms, "containers": containers}


def said(what: str, container: str, time_ms: int, **more: Any) -> dict[str, Any]:
    about = {"kind": "reprovision", "what": what, "container": container, "time_ms": time_ms}
    return {**about, **more}


PLACED = [
    placed(BESIDE, "beside"),
    placed(GROWN, "master", application_master=True),
    placed(GROWN, "own"),
]


def test_cpu_counts_from_submission_to_end_for_the_time_since_the_report_before() -> None:
    journal = [
        *PLACED,
        report(9_000, own=9.0, beside=9.0),
        report(12_000, own=0.5, beside=1.0),
        report(15_000, own=0.2, beside=1.0),
        report(21_000, own=9.0, beside=9.0),
    ]
    seen = run_figures("off", RECORD, BESIDE, journal)
    assert seen.completion_s == 10
    # 2 s of the first report lie in the window.
    assert seen.executors_core_s == pytest.approx(0.5 * 2 + 0.2 * 3)
    assert seen.beside_cores == pytest.approx((2 + 3) / 10)


def test_executors_take_from_their_placement_to_their_end() -> None:
    ended = {"kind": "finished", "container": "own", "time_ms": 18_500}
    assert run_figures("off", RECORD, BESIDE, [*PLACED, ended]).executors_s == 7.5


def test_what_was_lent_counts_until_it_was_measured_or_returned() -> None:
    journal = [
        *PLACED,
        said("opened", "own", 12_000, lent=cpu(0.5)),
        said("measured", "own", 15_000, used=cpu(0.6), predicted=cpu(0.2)),
        said("unused", "own", 16_000),
        said("opened", "own", 17_000, lent=cpu(0.1)),
        said("returned", "own", 19_000),
        said("too-little-left", "own", 19_500),
    ]
    windows = run_figures("on", RECORD, BESIDE, journal).windows
    assert (windows.opened, windows.measured, windows.returned) == (2, 1, 1)
    assert windows.too_little_left == 1
    assert windows.lent_core_s == pytest.approx(0.5 * 3 + 0.1 * 2)
    assert windows.used_of_lent_core_s == pytest.approx(0.4 * 3)


def test_windows_of_the_driver_and_of_others_are_not_the_executors() -> None:
    journal = [
        *PLACED,
        said("opened", "master", 12_000, lent=cpu(0.5)),
        said("returned", "master", 15_000),
        said("opened", "beside", 15_000, lent=cpu(0.5)),
    ]
    seen = run_figures("on", RECORD, BESIDE, journal)
    assert (seen.windows.opened, seen.master_windows) == (0, 1)


def run(arm: str, completion_s: float, beside_cores: float, windows: Windows) -> RunFigures:
    return RunFigures(arm, completion_s, 50.0, 20.0, beside_cores, windows, master_windows=0)


NONE = Windows(0, 0, 0, 0, 0.0, 0.0)


def test_pairs_are_put_together_as_ratios() -> None:
    some = Windows(2, 1, 1, 0, 3.0, 1.0)
    pairs = [
        Pair(run("off", 100, 1.0, NONE), run("on", 80, 0.5, some)),
        Pair(run("off", 100, 1.0, NONE), run("on", 125, 2.0, some)),
    ]
    seen = Summary.of(pairs)
    assert seen.completion.mean == pytest.approx(1.0)
    assert (seen.completion.least, seen.completion.most) == (0.8, 1.25)
    assert seen.beside.mean == pytest.approx(1.0)
    assert (seen.opened, seen.measured, seen.lent_core_s) == (4, 2, 6.0)
    assert "100.0 s off, 80.0 s on: 0.800" in pairs[0].line(1)


def test_the_spread_is_the_standard_error_of_the_mean() -> None:
    # Logarithms of 0, 0.2, 0.4: a deviation of 0.2 over the root of 3.
    ratio = Ratio.of([1.0, 1.2214027581601699, 1.4918246976412703])
    assert ratio.standard_error == pytest.approx(0.2 / 3**0.5)
    assert str(ratio) == "1.221 ± 0.141 (1.000 to 1.492)"
    assert str(Ratio.of([0.9])) == "0.900 (0.900 to 0.900)"
