"""A recurring Spark application is placed by its earlier run's use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.spark import SparkApplication, Submitter, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import placements, wait_all_reporting, wait_learned, weights_in_force

RUN_SECONDS = 300.0
COUNTED_SECONDS = 15.0


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    return start_cluster()


def test_the_core_books_more_than_a_node_has_once_it_knows_the_application(
    cluster: Cluster, submitter: Submitter, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)
    # Each container asks for half of a node's 2048 MB, and uses a fraction of that.
    pi = SparkApplication(
        "estimate-pi",
        checkout.spark_examples / "pi.py",
        ("20",),
        executor_memory_mb=640,
    )

    first = submitter.submit(pi)
    assert wait_ended(manager, first, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    assert all(one["profile"] is None for one in placements(journal, first))
    wait_learned(journal, pi.name)

    placed_before = manager.placed_by_core()
    again = [submitter.submit(pi) for _ in range(3)]
    end = wait_until(
        lambda: _predicted_ends(manager, again), "a predicted end of a running one", RUN_SECONDS
    )[0]
    assert end["earliest_ms"] < end["at_ms"] < end["latest_ms"]
    assert end["runs"] >= 1
    for application in again:
        assert wait_ended(manager, application, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"

    placed = [one for application in again for one in placements(journal, application)]
    executors = [one for one in placed if not one["application_master"]]
    # One more is no fault: under every scheduler, a container granted while Spark's next request
    # is in transit is granted twice, and Spark returns it.
    for application in again:
        own = [one for one in executors if one["application"] == application]
        assert len(own) >= pi.executors, own
    assert all(one["by_core"] for one in executors), executors
    assert all(one["profile"] for one in executors), executors
    # The journal's by_core is set at the commit, so it is true for another policy's order too.
    wait_until(
        lambda: manager.placed_by_core() - placed_before >= len(executors),
        f"{len(executors)} containers that the core's order led to",
        COUNTED_SECONDS,
    )
    if os.geteuid() == 0:
        for master in (one for one in placed if one["application_master"]):
            weights = weights_in_force(journal, master["container"])
            assert len(weights) > 1, f"{master['container']} kept the CPU weight {weights}"
    most = max(placed, key=lambda one: one["booked_memory_bytes"] / one["physical_memory_bytes"])
    assert most["booked_memory_bytes"] > most["physical_memory_bytes"], most


def _predicted_ends(manager: ResourceManager, applications: list[str]) -> list[dict[str, Any]]:
    shown = manager.elastane_rest("applications?state=running")["applications"]
    ends = [one["predicted_end"] for one in shown if one["application"] in applications]
    return [end for end in ends if end is not None]
