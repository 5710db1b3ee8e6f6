"""CapacityScheduler's preemption monitor kills nothing when agents are lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import ClusterMaker
from .expectations import (
    wait_all_reporting,
    wait_containers,
    wait_learned,
    wait_lowered,
    wait_sampled,
)

CONTAINER_MB = 512
MONITOR_MS = 500
WAIT_SECONDS = 120.0
WATCH_SECONDS = 20.0
# Each queue's half of the raised cluster: 2 nodes of 2 times 2048 MB.
SHARE_CONTAINERS = 8
# While the right queue is idle, its half stays deliverable at its request: the left one gets less
# than all of the raised cluster, but more than the physical one.
ALONE_CONTAINERS = 12
# The distributed shell asks for no preempted container again, so it asks for more than can be
# preempted of it: after all 16 that the cluster holds, 16 are still waited for.
LEFT_CONTAINERS = 4 * SHARE_CONTAINERS

QUEUES = "yarn.scheduler.capacity.root"
MONITOR = "yarn.resourcemanager.monitor.capacity.preemption"


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    halves: dict[str, object] = {f"{QUEUES}.queues": "default,left,right"}
    halves[f"{QUEUES}.default.capacity"] = 0
    halves[f"{QUEUES}.default.maximum-capacity"] = 100
    for queue in ("left", "right"):
        halves[f"{QUEUES}.{queue}.capacity"] = 50
        halves[f"{QUEUES}.{queue}.maximum-capacity"] = 100
        halves[f"{QUEUES}.{queue}.user-limit-factor"] = 2
        halves[f"{QUEUES}.{queue}.maximum-am-resource-percent"] = 1.0
    monitor = {
        "yarn.resourcemanager.scheduler.monitor.enable": True,
        f"{MONITOR}.monitoring_interval": MONITOR_MS,
        f"{MONITOR}.max_wait_before_kill": MONITOR_MS,
        f"{MONITOR}.total_preemption_per_round": 1.0,
        f"{MONITOR}.natural_termination_factor": 1.0,
        f"{MONITOR}.max_ignored_over_capacity": 0.0,
    }
    return start_cluster(capacity_scheduler=halves, resource_manager=monitor)


@pytest.fixture
def never() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_queues_at_their_shares_keep_them_when_all_agents_are_lost(
    cluster: Cluster, never: Alarm, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)
    # One known run covers applications with as many containers.
    counts = {"left": LEFT_CONTAINERS - 1, "right": SHARE_CONTAINERS - 1}
    for queue, count in counts.items():
        with alarm() as end:
            lesson = shell.submit(_sleepers(queue, count, until=end))
            wait_sampled(journal, lesson)
        assert wait_ended(manager, lesson, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
        wait_learned(journal, lesson)

    # The left queue takes all that there is. The monitor gives the right one its share back: it
    # works, and the left one keeps waiting for more than its share.
    left = shell.submit(_sleepers("left", counts["left"], never))
    wait_containers(cluster, left, ALONE_CONTAINERS, WAIT_SECONDS)
    right = shell.submit(_sleepers("right", counts["right"], never))
    wait_containers(cluster, right, SHARE_CONTAINERS, WAIT_SECONDS)
    assert _preempted(cluster, left) > 0
    wait_until(lambda: _running(cluster, left) == SHARE_CONTAINERS, "the left share", WAIT_SECONDS)
    before = _preempted(cluster, left)

    for agent in cluster.agents:
        agent.daemon.kill()
    for index in range(len(cluster.agents)):
        wait_lowered(cluster, index)

    # Nothing must happen during many rounds of the monitor.
    deadline = time.monotonic() + WATCH_SECONDS
    while time.monotonic() < deadline:
        assert _preempted(cluster, left) == before
        assert _preempted(cluster, right) == 0
        time.sleep(MONITOR_MS / 1000)
    assert _running(cluster, left) == _running(cluster, right) == SHARE_CONTAINERS
    # The monitor did order preemption.
    assert manager.counters()["PreemptionsHeldBack"] > 0


def _sleepers(queue: str, containers: int, until: Alarm) -> Sleepers:
    return Sleepers(
        f"sleepers-{queue}",
        containers=containers,
        memory_mb=CONTAINER_MB,
        until_pid=until.pid,
        queue=queue,
        master_memory_mb=CONTAINER_MB,
    )


def _preempted(cluster: Cluster, application: str) -> int:
    record = cluster.resource_manager.application(application)
    return record["numNonAMContainerPreempted"] + record["numAMContainerPreempted"]


def _running(cluster: Cluster, application: str) -> int:
    return cluster.resource_manager.application(application)["runningContainers"]
