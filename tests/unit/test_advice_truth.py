"""What mode advise says is compared with what came, executor by executor."""

from __future__ import annotations

from typing import Any

import pytest

from demo.advised import read_advice
from demo.executors import executor_starts_s
from demo.truth import started_earlier_s


def placed(application: str, number: int, time_ms: int, master: bool = False) -> dict[str, Any]:
    return {
        "kind": "placed",
        "application": application,
        "container": f"{application}-{number}",
        "application_master": master,
        "time_ms": time_ms,
    }


def finished(application: str, number: int, time_ms: int) -> dict[str, Any]:
    return {
        "kind": "finished",
        "application": application,
        "container": f"{application}-{number}",
        "time_ms": time_ms,
    }


def test_executors_start_so_long_after_their_applications_submission() -> None:
    applications = [{"id": "b", "startedTime": 2_000}, {"id": "a", "startedTime": 1_000}]
    journal = [
        placed("a", 1, 1_500, master=True),
        placed("a", 3, 9_000),
        placed("a", 2, 4_000),
        placed("warm-up", 2, 4_000),
        finished("a", 2, 30_000),
    ]
    assert executor_starts_s(applications, journal) == [[], [3.0, 8.0]]


def test_a_container_that_was_refused_at_once_did_not_start() -> None:
    journal = [placed("a", 2, 4_000), finished("a", 2, 4_050), placed("a", 3, 5_000)]
    assert executor_starts_s([{"id": "a", "startedTime": 0}], journal) == [[5.0]]


def test_executors_are_compared_by_their_place_among_those_of_their_application() -> None:
    before = [[10.0, 60.0], [30.0, 40.0], [5.0]]
    after = [[20.0, 25.0], [29.5, 30.0, 31.0], []]
    assert started_earlier_s(before, after) == [35.0, 10.0]


def test_the_advice_counts_without_the_warm_up() -> None:
    def one(name: str, earlier: int, mean_s: float) -> dict[str, Any]:
        return {
            "id": name,
            "submitted_ms": 0,
            "containers_earlier": earlier,
            "mean_earlier_s": mean_s,
            "capacity_completion_s": 100.0,
            "enforce_completion_s": 80.0,
        }

    whole = {
        "by_application": [one("warm-up", 2, 90.0), one("a", 3, 10.0), one("b", 1, 50.0)],
        "containers_earlier": 6,
        "mean_earlier_s": 43.3,
        "capacity": {"node_hours": 0.4},
        "enforce": {"node_hours": 0.3},
        "took_s": 0.1,
    }
    advice = read_advice(whole, ["a", "b"], lambda _: None)
    assert advice is not None
    assert advice.containers_earlier == 4
    assert advice.mean_earlier_s == pytest.approx(20.0)


def test_an_advice_that_compares_nothing_is_none_and_says_why() -> None:
    told: list[str] = []
    whole = {"by_application": [], "problem": "no application began and ended"}
    assert read_advice(whole, ["a"], told.append) is None
    assert told == ["no advice: no application began and ended"]
