"""A node is decommissioned gracefully: its Spark executors are told to leave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.administration import Administration
from cluster.cluster import Cluster
from cluster.journal import records
from cluster.paths import Checkout
from cluster.settings import NodeShape
from cluster.spark import Submitter, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import executors, wait_all_reporting
from .short_of_memory import RUN_SECONDS, START_SECONDS, Holder

EXECUTORS = 2
# A driver and two executors.
NODE_MB = 7168
# An executor has run for 30 s before it is told.
TOLD_SECONDS = 60.0
TIME_OUT_SECONDS = 600


@pytest.fixture(scope="module")
def excluded(work: Path) -> Path:
    """Names the hosts to be decommissioned."""
    return work / "excluded-hosts"


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, excluded: Path) -> Cluster:
    shape = NodeShape(memory_mb=NODE_MB, vcores=16, cpu_cores=8.0, disk_bytes_per_s=1_000_000_000)
    exclude_path = {"yarn.resourcemanager.nodes.exclude-path": excluded}
    return start_cluster(nodes=1, shape=shape, resource_manager=exclude_path)


def test_an_executor_is_told_to_leave_and_none_is_preempted(
    cluster: Cluster,
    submitter: Submitter,
    work: Path,
    checkout: Checkout,
    excluded: Path,
) -> None:
    manager = cluster.resource_manager
    journal = work / "journal.jsonl"
    administration = Administration(manager, work, checkout)
    wait_all_reporting(cluster)
    holder = Holder("holder", EXECUTORS, work, checkout)
    properties = {**holder.application.properties, "spark.decommission.enabled": "true"}
    application = submitter.submit(replace(holder.application, properties=properties))
    holder.wait_started()

    def wait_state(state: str) -> None:
        wait_until(lambda: manager.nodes()[0]["state"] == state, f"a node {state}", START_SECONDS)

    excluded.write_text("localhost\n")
    administration.decommission_gracefully(TIME_OUT_SECONDS)
    wait_state("DECOMMISSIONING")

    def told() -> list[dict[str, Any]]:
        return list(records(journal, "migration"))

    wait_until(told, "an executor that is told to leave", TOLD_SECONDS)
    # The node would be gone with its last application.
    excluded.write_text("")
    administration.decommission_gracefully(TIME_OUT_SECONDS)
    wait_state("RUNNING")
    holder.end()
    ended = wait_ended(manager, application, RUN_SECONDS)

    assert ended["finalStatus"] == "SUCCEEDED", ended
    assert ended["numNonAMContainerPreempted"] == 0
    (one,) = told()
    assert one["container"] in executors(journal, application)
    assert (one["state"], one["cause"]) == ("leaves", "node-drained"), one
    assert manager.counters()["ExecutorsDrained"] == 1
