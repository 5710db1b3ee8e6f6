"""`off` is left by a refresh; a label is a canary; a queue and an application stay out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.journal import records
from cluster.paths import Checkout
from cluster.rest import get_json_or_none
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import SHAPE, ClusterMaker, elastane
from .expectations import (
    wait_all_measured,
    wait_all_reporting,
    wait_containers,
    wait_learned,
    wait_sampled,
    wait_waiting,
)

CANARY = "canary"
CONTAINER_MB = 512
# Of one application; the executors of another number have no profile.
MANY = 3
WAIT_SECONDS = 120.0
# For two application masters each.
SHARES = {"enforced": 70, "observed": 30}


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    cluster = start_cluster(
        # What else runs on this machine would leave the canary no room.
        own_memory=True,
        elastane=replace(elastane(work), mode="off"),
        resource_manager={
            "yarn.node-labels.enabled": True,
            "yarn.node-labels.fs-store.root-dir": f"file://{work}/node-labels",
        },
        capacity_scheduler=_queues(),
    )
    cluster.administration.label_node(cluster.node_managers[0].node_id, CANARY)
    return cluster


@pytest.fixture
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_off_is_left_by_a_refresh_and_what_runs_is_taken_over(
    cluster: Cluster, until: Alarm, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    application = shell.submit(_sleepers("observed", until, containers=2))
    wait_containers(cluster, application, 3, WAIT_SECONDS)
    assert get_json_or_none(f"{manager.url}/elastane/v1/status") is None, "off since its start"

    _refresh(cluster, {"mode": "observe"})
    wait_until(lambda: manager.status().get("mode") == "observe", "the mode observe", WAIT_SECONDS)
    wait_all_reporting(cluster)
    wait_all_measured(cluster, application, WAIT_SECONDS)
    assert manager.elastane_rest(f"applications/{application}")["running_containers"] == 3
    assert manager.application(application)["runningContainers"] == 3
    placed = records(work / "journal.jsonl", "placed")
    assert [one["reason"] for one in placed] == ["ran-already"] * 3


def test_in_a_canary_who_is_in_observe_waits_for_room_by_request(
    cluster: Cluster, until: Alarm, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    labelled, other = (one.node_id for one in cluster.node_managers)
    journal = work / "journal.jsonl"
    shell = DistributedShell(manager, work, checkout)

    def submit(queue: str, end: Alarm, containers: int, tags: str = "") -> str:
        sleepers = _sleepers(queue, end, containers)
        return shell.submit(replace(sleepers, node_label=CANARY, tags=tags))

    with alarm() as end:
        lesson = submit("enforced", end, MANY)
        wait_sampled(journal, lesson)
    assert wait_ended(manager, lesson, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, lesson)

    _refresh(
        cluster,
        {
            "mode": "observe",
            f"mode.label.{CANARY}": "enforce",
            "mode.queue.root.observed": "observe",
        },
    )
    modes = {one["node"]: one["mode"] for one in manager.node_sizes()}
    assert modes == {labelled: "enforce", other: "observe"}
    modes = {one["queue"]: one["mode"] for one in manager.queues()}
    assert (modes["root.enforced"], modes["root.observed"]) == ("enforce", "observe")

    # With its guarantee, so that nodes are raised although its queue waits.
    content = submit("observed", until, 1)
    wait_containers(cluster, content, 2, WAIT_SECONDS)
    with alarm() as end:
        packed = submit("enforced", end, MANY)
        wait_containers(cluster, packed, MANY + 1, WAIT_SECONDS)
        assert manager.bookable_memory_mb()[labelled] > SHAPE.memory_mb
        waits = {
            submit("observed", until, 1): "mode.queue of its queue or of one above",
            submit("enforced", until, 1, tags="elastane.mode=observe"): "its tag elastane.mode",
        }
        for application, set_by in waits.items():
            wait_waiting(cluster, application, WAIT_SECONDS)
            _wait_reason(cluster, application, f"in mode observe, set by {set_by}")
        # Who came after them starts where they may not.
        later = submit("enforced", end, MANY)
        wait_containers(cluster, later, 1, WAIT_SECONDS)
        assert [manager.application(one)["runningContainers"] for one in waits] == [0, 0]
    # By request there is room for both masters, and for one of their executors.
    for application in waits:
        wait_containers(cluster, application, 1, WAIT_SECONDS)
    assert manager.bookable_memory_mb()[other] == SHAPE.memory_mb


def _wait_reason(cluster: Cluster, application: str, wanted: str) -> None:
    """Waits until this is a part of the reason why an application waits."""

    def told() -> bool:
        found = cluster.resource_manager.elastane_rest(f"applications/{application}")
        return found["waiting"] is not None and wanted in found["waiting"]["reason"]

    wait_until(told, f"{application} to wait: {wanted}", WAIT_SECONDS)


def _refresh(cluster: Cluster, settings: dict[str, object]) -> None:
    cluster.resource_manager.rewrite_settings(settings)
    cluster.administration.refresh_queues()


def _sleepers(queue: str, until: Alarm, containers: int) -> Sleepers:
    return Sleepers(f"sleepers-{queue}", containers, CONTAINER_MB, until.pid, queue)


def _queues() -> dict[str, object]:
    root = "yarn.scheduler.capacity.root"
    label = f"accessible-node-labels.{CANARY}"
    keys: dict[str, object] = {
        f"{root}.queues": ",".join(SHARES),
        f"{root}.accessible-node-labels": "*",
        f"{root}.{label}.capacity": 100,
    }
    for queue, share in SHARES.items():
        keys |= {
            f"{root}.{queue}.capacity": share,
            f"{root}.{queue}.maximum-capacity": 100,
            f"{root}.{queue}.user-limit-factor": 10,
            f"{root}.{queue}.accessible-node-labels": "*",
            f"{root}.{queue}.{label}.capacity": share,
            f"{root}.{queue}.{label}.maximum-capacity": 100,
        }
    return keys
