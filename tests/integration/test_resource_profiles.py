"""Executors of each Spark resource profile are learned and placed by their own demand."""

from __future__ import annotations

import json
from pathlib import Path

from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from cluster.spark import SparkApplication, Submitter, wait_ended

from .conftest import ClusterMaker
from .expectations import placements, wait_all_reporting, wait_learned

RUN_SECONDS = 300.0
LARGE_MB = 1000
OVERHEAD_MB = 384
"""What Spark adds to an executor's heap."""


def test_executors_of_two_resource_profiles_are_told_apart_by_the_priority_of_their_request(
    start_cluster: ClusterMaker, work: Path, checkout: Checkout
) -> None:
    cluster = start_cluster()
    manager = cluster.resource_manager
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)
    application = SparkApplication(
        "two-profiles",
        checkout.tests / "jobs" / "two_profiles.py",
        ("6", str(LARGE_MB)),
        executors=1,
        executor_memory_mb=512,
        properties={
            # Spark requests executors of another profile only with dynamic allocation.
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.executorIdleTimeout": "3s",
        },
    )
    with Submitter(manager, work, checkout) as submitter:
        for _ in range(2):
            run = submitter.submit(application)
            assert wait_ended(manager, run, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
            wait_learned(journal, run)

    placed = placements(journal, run)
    masters = [one for one in placed if one["application_master"]]
    assert [one["request_priority"] for one in masters] == [None]
    default = [one for one in placed if one["request_priority"] == 0]
    large = [one for one in placed if one["request_priority"] == 1]
    assert default and large, placed
    assert all(one["profile"] for one in default + large), placed
    least = (LARGE_MB + OVERHEAD_MB) << 20
    assert all(one["memory_bytes"] < least for one in default), default
    assert all(one["memory_bytes"] >= least for one in large), large

    key = large[0]["profile"]
    learned = ("--json", "--depository", work / "depository.sqlite")
    shown = json.loads(run_elastane(checkout, "profiles", "show", key, *learned))
    kinds = [(one["kind"], one.get("priority")) for one in shown["demands"]]
    assert kinds == [("application master", None), ("executor", 0), ("executor", 1)]
