"""Two sub-clusters behind a Router: each core has its own nodes, and both know what one learned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.federation import Federation
from cluster.paths import Checkout
from cluster.settings import ClusterSettings
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import alarm
from .conftest import HEARTBEAT_MS, SHAPE, elastane
from .expectations import (
    is_planned_by_profile,
    planned_on_nodes,
    wait_all_reporting,
    wait_learned,
    wait_sampled,
)

END_SECONDS = 60.0
SHARE_SECONDS = 60.0
# The shortest allowed interval.
SHARED_EVERY_MS = 10_000
# As the client names it: the Router looks its policy up by this name.
QUEUE = "default"
RESTING = "resting"


@pytest.fixture(scope="module")
def federation(work: Path, checkout: Checkout) -> Iterator[Federation]:
    shared = work / "shared"
    shared.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left_over in shared.iterdir():
        left_over.unlink()

    def settings(sub_cluster: str) -> ClusterSettings:
        folder = work / sub_cluster
        share = {
            "depository.shared": f"file://{shared}",
            "depository.shared-every-ms": SHARED_EVERY_MS,
        }
        return ClusterSettings(
            work=folder,
            sub_cluster=sub_cluster,
            nodes=1,
            shape=SHAPE,
            elastane=elastane(folder, **share),
            resource_manager={
                "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": HEARTBEAT_MS
            },
        )

    with Federation(work, [settings("north"), settings("south")], checkout) as one:
        yield one


@pytest.fixture
def north(federation: Federation) -> Cluster:
    return federation.clusters["north"]


@pytest.fixture
def south(federation: Federation) -> Cluster:
    return federation.clusters["south"]


@pytest.fixture
def shell(federation: Federation, work: Path, checkout: Checkout) -> DistributedShell:
    return DistributedShell(federation.router, work / "router", checkout)


def nodes_of(cluster: Cluster) -> list[str]:
    return [one.node_id for one in cluster.node_managers]


def test_each_core_is_in_service_and_knows_its_own_nodes(
    federation: Federation, north: Cluster, south: Cluster
) -> None:
    registered = federation.router.sub_clusters()
    for cluster in (north, south):
        assert cluster.settings.sub_cluster in registered
        wait_all_reporting(cluster)
        status = cluster.resource_manager.status()
        assert status["in_service"]
        assert [one["node"] for one in status["nodes"]] == nodes_of(cluster)
    listed = sorted(one["id"] for one in federation.router.nodes())
    assert listed == sorted(nodes_of(north) + nodes_of(south))


def test_a_run_of_one_sub_cluster_plans_the_repeat_in_the_other(
    federation: Federation, north: Cluster, south: Cluster, shell: DistributedShell
) -> None:
    router = federation.router
    router.weigh(QUEUE, {"north": 1, "south": 0})
    with alarm() as end:
        lesson = shell.submit(Sleepers(RESTING, containers=1, memory_mb=256, until_pid=end.pid))
        wait_sampled(north.resource_manager.journal, lesson)
    assert wait_ended(north.resource_manager, lesson, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(north.resource_manager.journal, lesson)
    wait_until(
        lambda: south.resource_manager.status()["profiles"] == 1, "the profile", SHARE_SECONDS
    )

    router.weigh(QUEUE, {"north": 0, "south": 1})
    with alarm() as end:
        repeat = shell.submit(Sleepers(RESTING, containers=1, memory_mb=256, until_pid=end.pid))

        def is_planned() -> bool:
            containers = planned_on_nodes(south.resource_manager, repeat)
            return len(containers) == 2 and all(map(is_planned_by_profile, containers))

        wait_until(is_planned, f"{repeat} to be planned by its profile", SHARE_SECONDS)
    assert wait_ended(south.resource_manager, repeat, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    assert [one["id"] for one in north.resource_manager.applications()] == [lesson]
    assert [one["id"] for one in south.resource_manager.applications()] == [repeat]
    assert {one["id"] for one in router.applications()} == {lesson, repeat}
