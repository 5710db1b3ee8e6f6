"""YARN's own places tell why an application waits for Elastane, and keep YARN's own reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from cluster.rest import get_json
from cluster.unmanaged_master import Place, UnmanagedMaster
from cluster.waiting import wait_until
from cluster.yarn_command import application_status

from .alarm import Alarm, alarm
from .conftest import ClusterMaker
from .expectations import wait_all_reporting, wait_containers, wait_waiting

CONTAINER_MB = 512
# Of 2 nodes of 2048 MB.
PHYSICAL_CONTAINERS = 8
WAIT_SECONDS = 120.0
OBSERVED = "elastane.mode=observe"
OURS = "Elastane: "
# Elastane's own limit: CapacityScheduler knows nothing of modes.
WHY = "in mode observe, set by its tag elastane.mode"
AM_LIMIT = "Queue's AM resource limit exceeded"
QUEUES = "yarn.scheduler.capacity.root"
SHARES = {"wide": 70, "narrow": 20, "aside": 10}
STARTS = re.compile(r"waits for \d+ s, and is expected to start in (about|very roughly) \d+ s\.")


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    # What else runs on this machine would leave the nodes no room.
    cluster = start_cluster(own_memory=True, capacity_scheduler=_queues())
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture(scope="module")
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def shell(cluster: Cluster, work: Path, checkout: Checkout) -> DistributedShell:
    return DistributedShell(cluster.resource_manager, work, checkout)


@pytest.fixture(scope="module")
def filling(cluster: Cluster, shell: DistributedShell, until: Alarm) -> str:
    """An application in mode observe that has booked all nodes, and waits for one container."""
    application = shell.submit(
        Sleepers(
            "filling",
            PHYSICAL_CONTAINERS,
            CONTAINER_MB,
            until.pid,
            queue="wide",
            master_memory_mb=CONTAINER_MB,
            tags=OBSERVED,
        )
    )
    wait_containers(cluster, application, PHYSICAL_CONTAINERS, WAIT_SECONDS)
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def without_master(cluster: Cluster, filling: str, shell: DistributedShell, until: Alarm) -> str:
    """An application in mode observe whose master waits for room by request."""
    application = shell.submit(_small("without-master", until))
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def held(cluster: Cluster, without_master: str, shell: DistributedShell, until: Alarm) -> str:
    """One whose queue has its only application master: the one that waits."""
    application = shell.submit(_small("held", until))
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


def test_the_diagnostics_of_a_master_tell_that_it_waits_for_elastane(
    cluster: Cluster, without_master: str, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager

    def in_rest() -> str | None:
        return _ours(manager.application(without_master)["diagnostics"])

    def in_command() -> str | None:
        return _ours(application_status(manager, without_master, work, checkout))

    # CapacityScheduler overwrites the words when it looks at the application again.
    for told in (in_rest, in_command):
        sentence = wait_until(told, f"Elastane's reason in {told.__name__}", WAIT_SECONDS)
        assert WHY in sentence


def test_the_activities_of_an_application_tell_that_it_waits_for_elastane(
    cluster: Cluster, filling: str, without_master: str
) -> None:
    for application in (filling, without_master):
        assert WHY in _wait_activity(cluster, application)


def test_the_reasons_of_capacity_scheduler_stay_as_yarn_tells_them(
    cluster: Cluster, held: str, without_master: str, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager

    def in_rest() -> str:
        return str(manager.application(held)["diagnostics"])

    def in_command() -> str:
        return application_status(manager, held, work, checkout)

    for told in (in_rest, in_command):
        # Without an expected start, it is told how long the application waits.
        words, _, _ = wait_until(
            lambda told=told: parts if STARTS.match((parts := told().partition(OURS))[2]) else None,
            f"the expected start in {told.__name__}",
            WAIT_SECONDS,
        )
        assert AM_LIMIT in words
    # Where both stand apart, CapacityScheduler's words are its own.
    why = manager.elastane_rest(f"applications/{held}")["waiting"]
    assert AM_LIMIT in why["capacity_scheduler_says"]
    assert OURS not in why["capacity_scheduler_says"]


def test_a_node_of_a_strict_request_that_is_not_in_the_cluster_is_told(
    cluster: Cluster, work: Path, checkout: Checkout
) -> None:
    place = Place("strict", "aside", CONTAINER_MB, only_host="nowhere")
    assert _limit_of(place, cluster, work, checkout) == (
        f"the next container requests <memory:{CONTAINER_MB}, vCores:1> on node nowhere only,"
        " which is not in the cluster: bring one in, or relax the request's locality"
    )


def test_a_blacklist_of_all_nodes_is_told(cluster: Cluster, work: Path, checkout: Checkout) -> None:
    nodes = sorted(one.node_id for one in cluster.node_managers)
    place = Place("choosy", "aside", CONTAINER_MB, blacklist=tuple(nodes))
    assert _limit_of(place, cluster, work, checkout) == (
        "the application's blacklist has all nodes of the cluster: "
        + ", ".join(f"node {one}" for one in nodes)
    )


def test_the_reason_goes_when_the_master_starts(
    cluster: Cluster, held: str, without_master: str, until: Alarm
) -> None:
    manager = cluster.resource_manager
    wait_until(
        lambda: _ours(manager.application(without_master)["diagnostics"]),
        "Elastane's reason",
        WAIT_SECONDS,
    )
    until.ring()

    def is_running() -> bool:
        return manager.application(without_master)["state"] in ("RUNNING", "FINISHED")

    wait_until(is_running, f"{without_master} to run", WAIT_SECONDS)
    assert OURS not in manager.application(without_master)["diagnostics"]


def _limit_of(place: Place, cluster: Cluster, work: Path, checkout: Checkout) -> str:
    """What REST says that CapacityScheduler says; the command says it, too."""
    manager = cluster.resource_manager

    def says(application: str) -> str | None:
        waiting = manager.elastane_rest(f"applications/{application}")["waiting"]
        return waiting["capacity_scheduler_says"] if waiting else None

    with UnmanagedMaster(manager, place, work, checkout) as application:
        words = wait_until(lambda: says(application), "a limit", WAIT_SECONDS)
        told = run_elastane(checkout, "explain", application, "--resource-manager", manager.url)
        assert f"CapacityScheduler says: {words}" in told
    return words


def _wait_activity(cluster: Cluster, application: str) -> str:
    """Asks for YARN's activities until they have Elastane's reason: YARN records what happens for
    3 s after each question."""
    url = f"{cluster.resource_manager.url}/ws/v1/cluster/scheduler/app-activities/{application}"
    return wait_until(
        lambda: _ours(json.dumps(get_json(url))),
        f"Elastane's reason in the activities of {application}",
        WAIT_SECONDS,
    )


def _ours(text: str) -> str | None:
    """What Elastane has written into YARN's words."""
    _, found, ours = text.partition(OURS)
    return ours if found else None


def _small(name: str, until: Alarm) -> Sleepers:
    return Sleepers(name, 1, CONTAINER_MB, until.pid, queue="narrow", tags=OBSERVED)


def _queues() -> dict[str, object]:
    keys: dict[str, object] = {
        f"{QUEUES}.queues": ",".join(SHARES),
        # One application master: CapacityScheduler lets each queue have one.
        f"{QUEUES}.narrow.maximum-am-resource-percent": 0.01,
    }
    for queue, share in SHARES.items():
        keys |= {
            f"{QUEUES}.{queue}.capacity": share,
            f"{QUEUES}.{queue}.maximum-capacity": 100,
            f"{QUEUES}.{queue}.user-limit-factor": 10,
        }
    return keys
