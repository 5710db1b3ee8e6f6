"""Queues and settings change where YARN keeps the queues in a configuration store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.rest import get_json
from cluster.waiting import wait_until
from cluster.yarn_command import update_queue

from .alarm import Alarm, alarm
from .conftest import ClusterMaker, elastane
from .expectations import wait_all_reporting, wait_containers

CONTAINER_MB = 512
# Of 2 nodes of 2048 MB, with the application master.
CONTAINERS = 4
WAIT_SECONDS = 60.0
STORE = {"yarn.scheduler.configuration.store.class": "memory"}


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    observing = replace(elastane(work), mode="observe")
    cluster = start_cluster(elastane=observing, resource_manager=STORE)
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture
def never() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_a_change_of_a_queue_reads_the_settings_too_and_ends_nothing(
    cluster: Cluster, never: Alarm, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    application = shell.submit(Sleepers("asleep", CONTAINERS - 1, CONTAINER_MB, never.pid))
    wait_containers(cluster, application, CONTAINERS, WAIT_SECONDS)

    def change(maximum_capacity: int) -> str:
        key = f"root.default:maximum-capacity={maximum_capacity}"
        return update_queue(manager, key, work, checkout)

    with pytest.raises(ProcessEnded, match="configuration is mutable"):
        cluster.administration.refresh_queues()
    assert manager.status()["mode"] == "observe"

    manager.rewrite_settings({"mode": "enforce"})
    change(90)
    assert manager.status()["mode"] == "enforce"
    assert _maximum_capacity(cluster) == 90

    manager.rewrite_settings({"mode": "observe", "overcommit.max-ratio": 11})
    with pytest.raises(ProcessEnded, match=r"max-ratio is '11', allowed is 1 to 10"):
        change(80)
    assert manager.status()["mode"] == "enforce"
    assert _maximum_capacity(cluster) == 90

    manager.rewrite_settings({"mode": "observe"})
    change(70)
    assert manager.status()["mode"] == "observe"
    assert _maximum_capacity(cluster) == 70
    wait_until(
        lambda: {one["mode"] for one in manager.node_sizes()} == {"observe"},
        "nodes in observe",
        WAIT_SECONDS,
    )
    assert manager.application(application)["runningContainers"] == CONTAINERS
    assert manager.application(application)["preemptedResourceMB"] == 0


def _maximum_capacity(cluster: Cluster) -> float:
    answer = get_json(f"{cluster.resource_manager.url}/ws/v1/cluster/scheduler")
    [queue] = answer["scheduler"]["schedulerInfo"]["queues"]["queue"]
    maximum: float = queue["maxCapacity"]
    return maximum
