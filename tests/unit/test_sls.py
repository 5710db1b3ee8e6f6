"""The load that SLS is given, and the line that its figures make."""

from __future__ import annotations

from typing import Any

import pytest

from sls.figures import Figures, line
from sls.trace import Load


def written(**changed: Any) -> dict[str, Any]:
    return {
        "containersPerSecond": 2000.0,
        "cpuUsOfContainer": 50.0,
        "p99Us": 90.0,
        "longestMs": 0.8,
        "longest": [{"cpuMs": 0.5}, {"cpuMs": 0.3}],
        "overMillisecond": 0,
        "cpuOverMillisecond": 0,
        "heartbeatsPerSecond": 1000.0,
        "checks": 3,
        "elastane": {},
        "failures": [],
        **changed,
    }


def test_all_applications_have_the_same_share_of_the_containers() -> None:
    trace = Load(nodes=100, applications=50, containers=2000, container_ms=5000).trace()

    assert trace["num_nodes"] == 100
    assert trace["num_jobs"] == 50
    for workload in trace["workloads"]:
        assert workload["job_classes"][0]["tasks"][0]["count"] == {"val": 40.0}


@pytest.mark.parametrize(("applications", "containers"), [(0, 10), (3, 10), (10, 0)])
def test_a_load_that_cannot_be_divided_is_refused(applications: int, containers: int) -> None:
    with pytest.raises(ValueError):
        Load(nodes=10, applications=applications, containers=containers, container_ms=1)


def test_the_line_has_elastanes_longest_call_and_the_ratios_to_capacity_scheduler() -> None:
    counters = {"Rounds": 700, "RoundsLeftToCapacityScheduler": 4, "Reports": 300}
    elastane = Figures.parse(
        written(containersPerSecond=1500.0, cpuUsOfContainer=75.0, longestMs=3.0, elastane=counters)
    )

    fields = dict(
        field.split("=") for field in line(5000, Figures.parse(written()), elastane).split()[1:]
    )

    assert fields["nodes"] == "5000"
    assert fields["capacity_per_s"] == "2000"
    assert fields["elastane_per_s"] == "1500"
    assert fields["ratio"] == "0.750"
    assert fields["longest_ms"] == "3.00"
    assert fields["capacity_longest_ms"] == "0.80"
    assert fields["longest_cpu_ms"] == "0.50"
    assert fields["cpu_ratio"] == "1.50"
    assert fields["left_rounds"] == "4"


def test_there_is_a_line_when_nothing_was_placed() -> None:
    counters = {"Rounds": 0, "RoundsLeftToCapacityScheduler": 0, "Reports": 0}
    nothing = Figures.parse(written(containersPerSecond=0.0, cpuUsOfContainer=0.0, longest=[]))
    elastane = Figures.parse(written(elastane=counters))

    assert "ratio=nan" in line(10, nothing, elastane)


def test_a_machine_that_handles_too_few_heartbeats_is_slow() -> None:
    figures = Figures.parse(written(heartbeatsPerSecond=89.0))

    assert figures.is_slow(100)
    assert not figures.is_slow(95)
