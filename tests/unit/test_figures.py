"""A round's figures follow from its observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.settings import MEBIBYTE
from demo.result import figures
from demo.rounds import ROUNDS, SHAPE
from demo.run import RoundOutcome
from demo.series import NodePoint, NodeSeries, integral

REQUEST_MB = 1024


def application(name: str, start_s: int, end_s: int, status: str = "SUCCEEDED") -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "startedTime": start_s * 1000,
        "launchTime": start_s * 1000,
        "finishedTime": end_s * 1000,
        "finalStatus": status,
    }


def point(time_s: float, containers: int, used_cpu_cores: float, used_mb: int) -> NodePoint:
    return NodePoint(
        time_s=time_s,
        containers=containers,
        booked_memory_bytes=containers * REQUEST_MB * MEBIBYTE,
        booked_vcores=containers,
        used_cpu_cores=used_cpu_cores,
        used_memory_bytes=used_mb * MEBIBYTE,
        used_disk_bytes_per_s=0.0,
    )


def placed(booked_vcores: int, booked_memory_bytes: int) -> dict[str, Any]:
    return {
        "kind": "placed",
        "time_ms": 30_000,
        "application": "second",
        "container": "second-2",
        "application_master": False,
        "by_core": True,
        "booked_vcores": booked_vcores,
        "booked_memory_bytes": booked_memory_bytes,
    }


@pytest.fixture
def outcome() -> RoundOutcome:
    """Five containers on a node with room for three, at half of the node's cores."""
    half = SHAPE.cpu_cores / 2
    series = NodeSeries("node-0", [point(time_s, 5, half, REQUEST_MB) for time_s in (0, 1, 2)])
    return RoundOutcome(
        round=ROUNDS[0],
        started_ms=0,
        applications=[application("first", 0, 60), application("second", 20, 100, "FAILED")],
        nodes=[series],
        cpu_core_s=42.0,
        machine_core_s=92.0,
        containers=6,
        placed_by_core=4,
        journal=[],
        missed_looks=0,
        cannot_hold=None,
    )


def test_times_are_counted_from_each_submission(outcome: RoundOutcome) -> None:
    seen = figures(outcome)
    assert seen.makespan_s == 100
    assert seen.mean_completion_s == (60 + 80) / 2
    assert seen.failures == 1
    assert seen.others_mean_cores == (92 - 42) / 100


def test_only_what_the_cores_order_led_to_counts_as_placed_by_it(outcome: RoundOutcome) -> None:
    outcome.journal = [placed(booked_vcores=1, booked_memory_bytes=1)] * 6
    assert figures(outcome).placed_by_core == 4


def test_bookings_are_compared_with_the_physical_size(outcome: RoundOutcome) -> None:
    seen = figures(outcome)
    assert seen.max_booked_over_physical.memory == pytest.approx(5 * REQUEST_MB / SHAPE.memory_mb)
    assert seen.max_booked_over_physical.cpu == 5 / SHAPE.vcores
    # Two of the 100 s were looked at.
    assert seen.mean_booked_over_physical.memory == pytest.approx(
        0.02 * 5 * REQUEST_MB / SHAPE.memory_mb
    )
    assert seen.mean_booked_over_physical.cpu == pytest.approx(0.02 * 5 / SHAPE.vcores)
    assert seen.most_containers.containers == 5
    assert seen.most_containers.physical_size_books == 3


def test_a_vcore_is_its_part_of_the_cores(outcome: RoundOutcome) -> None:
    seen = figures(outcome)
    assert seen.used_over_booked.cpu == pytest.approx(0.5 / (5 / SHAPE.vcores))
    assert seen.used_over_booked.memory == pytest.approx(1 / 5)


def test_the_journal_knows_bookings_that_no_look_has_met(outcome: RoundOutcome) -> None:
    outcome.journal = [placed(booked_vcores=6, booked_memory_bytes=6 * REQUEST_MB * MEBIBYTE)]
    seen = figures(outcome)
    assert seen.max_booked_over_physical.cpu == 6 / SHAPE.vcores


def test_executors_start_so_long_after_their_submission(outcome: RoundOutcome) -> None:
    outcome.journal = [placed(booked_vcores=1, booked_memory_bytes=1)]
    assert figures(outcome).executor_starts_s == [[], [10.0]]


def test_node_hours_are_those_with_a_container(outcome: RoundOutcome) -> None:
    outcome.nodes.append(NodeSeries("idle", [point(time_s, 0, 0, 0) for time_s in (0, 1, 2)]))
    assert figures(outcome).node_hours == pytest.approx(2 / 3600)


def test_a_value_holds_until_the_next_time() -> None:
    assert integral([0, 2, 3], [10, 1, 99]) == 21


def test_depositories_and_journals_of_a_round_lie_in_the_folder_given(tmp_path: Path) -> None:
    settings = ROUNDS[0].settings(tmp_path)
    assert settings.elastane is not None
    assert settings.elastane.depository.parent == tmp_path
    assert settings.elastane.journal.parent == tmp_path
