"""A small run of the scale model: executors do their work, on the nodes that they are held to."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.cgroups import CannotHold, check_can_hold, groups_named
from cluster.cluster import GROUP_PREFIX
from cluster.paths import Checkout
from cluster.processes import strays
from scale_model.contenders import CONTENDERS
from scale_model.figures import figures
from scale_model.recorded import Series
from scale_model.run import run_one
from scale_model.states import MEMORY_BOUND
from scale_model.workload import arrivals

SMALL = replace(MEMORY_BOUND, applications=6, arrivals_s=4.0)


def test_executors_do_the_work_of_their_series(work: Path, checkout: Checkout) -> None:
    try:
        check_can_hold()
    except CannotHold as reason:
        pytest.skip(str(reason))
    flat = Series(3.0, (0.3,) * 5, (3e8,) * 5, (0.0,) * 5, (5e6,) * 5)
    applications = arrivals(SMALL, {"flat": [flat]}, 1)
    outcome = run_one(
        SMALL,
        CONTENDERS["oracle"],
        1,
        applications,
        None,
        work,
        checkout,
        print,
    )
    result = figures(outcome)
    assert result.failures == 0, outcome.events
    assert result.kills == 0
    assert len(outcome.executors) == sum(one.executors for one in applications)
    wanted_core_s = sum(
        one.series.mean_cpu_cores * one.series.length_s * sum(one.stretches) for one in applications
    )
    assert outcome.cpu_core_s == pytest.approx(wanted_core_s, rel=0.2)
    assert max(point.used_memory_bytes for node in outcome.nodes for point in node.points) > 0
    assert outcome.counters["PlacedByCore"] > 0, "known by their tags"
    own = f"{GROUP_PREFIX}{os.getpid()}"
    assert own not in [group.name for group in groups_named(GROUP_PREFIX)]
    assert not strays(str(work))
