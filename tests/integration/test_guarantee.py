"""Queues on an overcommitted cluster: a guarantee comes as soon as under CapacityScheduler, and a
maximum is one of measured use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.spark import wait_ended

from .alarm import Alarm, alarm
from .conftest import ClusterMaker
from .expectations import wait_all_reporting, wait_containers, wait_idle, wait_learned

CONTAINER_MB = 512
HELD_MB = 330
"""What a container uses of it."""
MONITOR_MS = 500
WAIT_SECONDS = 120.0
WATCH_SECONDS = 20.0
# Of 2 nodes of 2048 MB.
PHYSICAL_CONTAINERS = 8
GUARANTEED_CONTAINERS = 4
GUARANTEED_MB = GUARANTEED_CONTAINERS * CONTAINER_MB
# An ApplicationMaster takes some 6 s to start, a second more or less.
LATER_SECONDS = 10.0

MEMORY_ALONE = "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator"
QUEUES = "yarn.scheduler.capacity.root"
MONITOR = "yarn.resourcemanager.monitor.capacity.preemption"


@dataclass(frozen=True)
class Scene:
    """A cluster on which one queue may take everything and the other one half at most."""

    cluster: Cluster
    shell: DistributedShell

    def left(self, until: Alarm) -> str:
        return self._submit("left", 2 * PHYSICAL_CONTAINERS - 1, until)

    def right(self, until: Alarm) -> str:
        return self._submit("right", PHYSICAL_CONTAINERS - 1, until)

    def _submit(self, queue: str, containers: int, until: Alarm) -> str:
        return self.shell.submit(
            Sleepers(
                f"sleepers-{queue}",
                containers=containers,
                memory_mb=CONTAINER_MB,
                until_pid=until.pid,
                queue=queue,
                master_memory_mb=CONTAINER_MB,
                held_mb=HELD_MB,
            )
        )

    def seconds_to_guarantee(self, until: Alarm) -> tuple[str, float]:
        """Submits to the right queue, and times how long it waits for its guarantee."""
        began = time.monotonic()
        right = self.right(until)
        wait_containers(self.cluster, right, GUARANTEED_CONTAINERS, WAIT_SECONDS)
        return right, time.monotonic() - began

    def running(self, application: str) -> int:
        return self.cluster.resource_manager.application(application)["runningContainers"]

    def used_mb(self, queue: str) -> int:
        """By the agents' measurements."""
        queues = self.cluster.resource_manager.queues()
        found = next(one for one in queues if one["queue"] == f"root.{queue}")
        return found["labels"][0]["used_memory_mb"]


@pytest.fixture
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_a_guarantee_comes_as_soon_as_under_capacity_scheduler_and_a_maximum_is_of_measured_use(
    start_cluster: ClusterMaker, until: Alarm, work: Path, checkout: Checkout
) -> None:
    stock = _scene(start_cluster, checkout, work.with_name(f"{work.name}_stock"), elastane=None)
    wait_containers(stock.cluster, stock.left(until), PHYSICAL_CONTAINERS, WAIT_SECONDS)
    _, stock_seconds = stock.seconds_to_guarantee(until)
    stock.cluster.stop()

    scene = _scene(start_cluster, checkout, work)
    wait_all_reporting(scene.cluster)
    for submit in (scene.left, scene.right):
        _learn(scene, submit, work / "journal.jsonl")
    left = scene.left(until)
    wait_containers(scene.cluster, left, PHYSICAL_CONTAINERS + 1, WAIT_SECONDS)
    right, seconds = scene.seconds_to_guarantee(until)
    print(f"guarantee after {seconds:.1f} s, under CapacityScheduler after {stock_seconds:.1f} s")
    assert seconds <= stock_seconds + LATER_SECONDS

    # The right queue books more than half of the physical cluster. It does not use more than half,
    # although the rest is free, and the monitor leaves it alone, although the nodes shrink.
    wait_containers(scene.cluster, right, GUARANTEED_CONTAINERS + 1, WAIT_SECONDS)
    manager = scene.cluster.resource_manager
    manager.kill_application(left)
    deadline = time.monotonic() + WATCH_SECONDS
    most_used_mb = 0
    while time.monotonic() < deadline:
        most_used_mb = max(most_used_mb, scene.used_mb("right"))
        time.sleep(1)
    print(f"{scene.running(right)} containers use {most_used_mb} MB of {GUARANTEED_MB}")
    assert GUARANTEED_CONTAINERS * HELD_MB < most_used_mb <= GUARANTEED_MB
    assert manager.application(right)["numNonAMContainerPreempted"] == 0


def _learn(scene: Scene, submit: object, journal: Path) -> None:
    assert callable(submit)
    with alarm() as end:
        lesson = submit(end)
        # On a busy machine a start uses much CPU, and the last thing seen is planned for later.
        wait_idle(journal, lesson)
    ended = wait_ended(scene.cluster.resource_manager, lesson, WAIT_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, lesson)


def _scene(
    start_cluster: ClusterMaker, checkout: Checkout, work: Path, **settings: object
) -> Scene:
    halves: dict[str, object] = {
        f"{QUEUES}.queues": "default,left,right",
        # With the dominant share the monitor gives a queue the virtual cores that are left over,
        # which OverdueGuaranteeTest is about.
        "yarn.scheduler.capacity.resource-calculator": MEMORY_ALONE,
    }
    maxima = {"default": 100, "left": 100, "right": 50}
    for queue, maximum in maxima.items():
        halves[f"{QUEUES}.{queue}.capacity"] = 0 if queue == "default" else 50
        halves[f"{QUEUES}.{queue}.maximum-capacity"] = maximum
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
    cluster = start_cluster(
        work=work, capacity_scheduler=halves, resource_manager=monitor, **settings
    )
    return Scene(cluster, DistributedShell(cluster.resource_manager, work, checkout))
