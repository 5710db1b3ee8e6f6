"""What waiting applications were told is compared with when their next container started."""

from __future__ import annotations

from typing import Any

import pytest

from demo.expected_starts import ToldStart, held_against_starts, told_starts


def placed(application: str, number: int, time_ms: int) -> dict[str, Any]:
    container = f"{application}-{number}"
    return {
        "kind": "placed",
        "application": application,
        "container": container,
        "time_ms": time_ms,
    }


def test_a_status_tells_each_waiting_application_a_start_or_none() -> None:
    status = {
        "waiting": [
            {"application": "a", "expected_start": {"in_ms": 500, "is_rough": False}},
            {"application": "b", "expected_start": {"in_ms": 700, "is_rough": True}},
            {"application": "c", "expected_start": None},
        ]
    }
    assert told_starts(status, 1_000) == [
        ToldStart("a", 1_000, 1_500),
        ToldStart("b", 1_000, 1_700, is_rough=True),
        ToldStart("c", 1_000, None),
    ]
    assert told_starts({"in_service": False}, 1_000) == []


def test_errors_are_held_against_the_next_start_after_the_answer() -> None:
    told = [
        ToldStart("a", 10_000, 50_000),
        ToldStart("a", 20_000, 28_000),
        ToldStart("b", 10_000, 12_000, is_rough=True),
        ToldStart("b", 11_000, None),
        ToldStart("never started", 10_000, 11_000),
    ]
    journal = [placed("a", 1, 9_000), placed("a", 3, 60_000), placed("a", 2, 30_000)]
    journal += [placed("b", 1, 16_000)]
    starts = held_against_starts(told, journal)
    assert starts is not None
    assert (starts.asked, starts.applications) == (4, 2)
    assert starts.known == pytest.approx(3 / 4)
    assert starts.rough == pytest.approx(1 / 3)
    # Waits of 20, 10 and 6 s, and errors of 20, 2 and 4 s.
    assert starts.median_wait_s == 10.0
    assert starts.median_error_s == 4.0
    assert starts.error_over_wait == pytest.approx(26 / 36)


def test_a_container_that_was_refused_at_once_is_no_start() -> None:
    refused = {"kind": "finished", "container": "a-1", "application": "a", "time_ms": 12_010}
    journal = [placed("a", 1, 12_000), refused, placed("a", 2, 15_000)]
    starts = held_against_starts([ToldStart("a", 10_000, 15_000)], journal)
    assert starts is not None
    assert starts.median_error_s == 0.0


def test_without_an_answer_there_is_no_error() -> None:
    assert held_against_starts([], [placed("a", 1, 12_000)]) is None
    assert held_against_starts([ToldStart("a", 10_000, None)], [placed("a", 1, 12_000)]) is None
