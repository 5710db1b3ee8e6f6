"""MapReduce on raised nodes: an ApplicationMaster that is told what is left ends reducers for a map
that does not fit, as under CapacityScheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.map_reduce import NODE_MANAGER, RepeatedMap
from cluster.paths import Checkout
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import ClusterMaker, elastane
from .expectations import (
    physical_memory_mb,
    wait_all_reporting,
    wait_asleep,
    wait_containers,
    wait_learned,
    wait_sampled,
)

# By request, both applications with a map and a reducer fill 2 nodes of 2048 MB.
CONTAINER_MB = 512
SLEEPERS = 4
# One more than there is room for besides the map, so that one gets the room of the map, and none
# waits while the map waits: an ApplicationMaster subtracts reducers that wait from what is left.
REDUCERS = 3
# What a sleeper uses. By demand, the sleepers leave more than a container on both nodes together,
# and less on each of them: nodes are raised, and the map fits neither.
HELD_MB = 292
WAIT_SECONDS = 60.0
# A node that misses a heartbeat gets fewer of the sleepers.
SUBMISSIONS = 3
RUN_SECONDS = 60.0
# A container that fits nowhere has to wait for 10 s before its application is told so.
LATER_SECONDS = 20.0


@dataclass(frozen=True)
class Scene:
    """A cluster with sleepers that take half of it, and a job that takes the rest."""

    cluster: Cluster
    checkout: Checkout
    work: Path

    @property
    def journal(self) -> Path:
        return self.work / "journal.jsonl"

    def sleep(self, until: Alarm) -> str:
        """Sleepers, half of them on each node."""
        for _ in range(SUBMISSIONS):
            application = self._submit_sleepers(until)
            nodes = self.cluster.resource_manager.status()["nodes"]
            if sorted(node["containers"] for node in nodes) == [SLEEPERS // 2, SLEEPERS // 2 + 1]:
                return application
            self.cluster.resource_manager.kill_application(application)
            wait_ended(self.cluster.resource_manager, application, WAIT_SECONDS)
        raise AssertionError(f"the sleepers never shared the nodes evenly: {nodes}")

    def _submit_sleepers(self, until: Alarm) -> str:
        shell = DistributedShell(self.cluster.resource_manager, self.work, self.checkout)
        sleepers = Sleepers(
            "sleepers",
            containers=SLEEPERS,
            memory_mb=CONTAINER_MB,
            until_pid=until.pid,
            master_memory_mb=CONTAINER_MB,
            held_mb=HELD_MB,
        )
        application = shell.submit(sleepers)
        wait_containers(self.cluster, application, 1 + SLEEPERS, WAIT_SECONDS)
        wait_asleep(self.cluster, SLEEPERS, WAIT_SECONDS)
        return application

    def seconds_to_repeat_the_map(self, name: str) -> float:
        """Times a job from the end of its map's first attempt, when reducers take its room."""
        manager = self.cluster.resource_manager
        job = RepeatedMap(name, CONTAINER_MB, REDUCERS)
        application = job.submit(self.cluster, self.checkout)
        job.wait_mapping(WAIT_SECONDS)
        wait_containers(self.cluster, application, 3, WAIT_SECONDS)
        job.end_first_attempt()
        began = time.monotonic()
        ended = wait_ended(manager, application, RUN_SECONDS)
        seconds = time.monotonic() - began
        assert ended["finalStatus"] == "SUCCEEDED", ended
        assert "Preempting attempt_" in self._master_log(application)
        return seconds

    def _master_log(self, application: str) -> str:
        (log,) = (
            log
            for node_manager in self.cluster.node_managers
            for log in node_manager.container_logs.glob(f"{application}/*_000001/syslog")
        )
        return log.read_text()


@pytest.fixture
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_reducers_make_way_for_a_map_as_soon_as_under_capacity_scheduler(
    start_cluster: ClusterMaker, until: Alarm, work: Path, checkout: Checkout
) -> None:
    observed = work.with_name(f"{work.name}_observe")
    before = replace(elastane(observed), mode="observe")
    cluster = start_cluster(work=observed, elastane=before, node_manager=NODE_MANAGER)
    scene = Scene(cluster, checkout, observed)
    wait_all_reporting(cluster)
    with alarm() as end:
        lesson = scene.sleep(end)
        stock_seconds = scene.seconds_to_repeat_the_map("observed")
        wait_sampled(scene.journal, lesson)
    assert wait_ended(cluster.resource_manager, lesson, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(scene.journal, lesson)
    cluster.stop()

    knowing = replace(elastane(work), depository=before.depository)
    cluster = start_cluster(elastane=knowing, node_manager=NODE_MANAGER)
    scene = Scene(cluster, checkout, work)
    wait_all_reporting(cluster)
    scene.sleep(until)
    wait_until(
        lambda: _bookable_mb(cluster) > 2 * physical_memory_mb(cluster), "room", WAIT_SECONDS
    )
    # Under another name, since this job is to be unknown.
    seconds = scene.seconds_to_repeat_the_map("enforced")

    print(f"ended after {seconds:.1f} s, under CapacityScheduler after {stock_seconds:.1f} s")
    assert seconds <= stock_seconds + LATER_SECONDS


def _bookable_mb(cluster: Cluster) -> int:
    return sum(cluster.resource_manager.bookable_memory_mb().values())
