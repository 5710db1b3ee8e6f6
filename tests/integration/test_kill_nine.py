"""After kill -9 of each process, everything reconnects and containers keep running."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers, sleeping
from cluster.elastane_command import watching
from cluster.journal import records
from cluster.paths import Checkout
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import alarm
from .conftest import ClusterMaker
from .expectations import (
    SAMPLE_SECONDS,
    is_planned_by_profile,
    master,
    measured,
    physical_memory_mb,
    planned_on_nodes,
    wait_all_raised,
    wait_all_reporting,
    wait_asleep,
    wait_containers,
    wait_learned,
    wait_lowered,
    wait_sampled,
)

START_SECONDS = 90.0
END_SECONDS = 60.0
RECOVER_SECONDS = 90.0
# Samples of the last seconds before a kill may be lost.
LOST_SECONDS = 10.0


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    return start_cluster(recovery=True)


@pytest.fixture(scope="module")
def shell(cluster: Cluster, work: Path, checkout: Checkout) -> DistributedShell:
    return DistributedShell(cluster.resource_manager, work, checkout)


@pytest.fixture(scope="module")
def sleepers(cluster: Cluster, shell: DistributedShell) -> Iterator[str]:
    """An application with containers on both nodes that must survive all tests of this module. An
    earlier run of it is known, so that the nodes are raised while it runs."""
    wait_all_reporting(cluster)
    journal = cluster.resource_manager.journal
    with alarm() as end:
        lesson = shell.submit(_sleepers(end.pid))
        wait_sampled(journal, lesson)
    assert wait_ended(cluster.resource_manager, lesson, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, lesson)
    with alarm() as end:
        application = shell.submit(_sleepers(end.pid))
        wait_containers(cluster, application, 5, START_SECONDS)
        wait_asleep(cluster, 4, START_SECONDS)
        wait_all_raised(cluster)
        yield application
    ended = wait_ended(cluster.resource_manager, application, END_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED", ended["diagnostics"]
    assert ended["preemptedResourceMB"] == 0
    wait_learned(journal, application)
    run = next(one for one in records(journal, "learned") if one["application"] == application)
    assert run["outcome"] == "succeeded", run


def _sleepers(until_pid: int) -> Sleepers:
    return Sleepers("sleepers", containers=4, memory_mb=512, until_pid=until_pid)


def assert_nothing_was_lost(cluster: Cluster, application: str) -> None:
    assert cluster.resource_manager.application(application)["runningContainers"] == 5
    assert len(sleeping(str(cluster.settings.work))) == 4


def samples_saved_at(depository: Path, application: str) -> float:
    """The time when samples of a running application were last saved, in `time.time`'s unit."""
    statement = """
        SELECT sampled_ms FROM open_run AS run WHERE application_id = ? AND (
            recorder IS NOT NULL
            OR EXISTS (SELECT 1 FROM open_samples WHERE application_id = run.application_id)
        )"""
    with closing(sqlite3.connect(f"{depository.as_uri()}?mode=ro", uri=True)) as connection:
        saved = connection.execute(statement, [application]).fetchone()
    assert saved is not None, f"no samples of {application} in {depository}"
    return saved[0] / 1000


def test_a_killed_agent_costs_its_node_the_raise_until_it_is_back(
    cluster: Cluster, sleepers: str
) -> None:
    agent = cluster.agents[0]
    agent.daemon.kill()
    wait_lowered(cluster, 0)
    other = cluster.node_managers[1].node_id
    bookable = cluster.resource_manager.bookable_memory_mb()
    assert bookable[other] > physical_memory_mb(cluster)

    agent.start()
    wait_all_raised(cluster)
    assert_nothing_was_lost(cluster, sleepers)


def test_a_removed_socket_costs_the_same_and_a_restarted_agent_makes_it_anew(
    cluster: Cluster, sleepers: str
) -> None:
    agent = cluster.agents[0]
    agent.socket.unlink()
    wait_lowered(cluster, 0)

    agent.daemon.stop()
    agent.start()
    wait_all_raised(cluster)
    assert_nothing_was_lost(cluster, sleepers)


def test_a_killed_resource_manager_comes_back_with_the_raise(
    cluster: Cluster, sleepers: str, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    seen = master(manager.journal, sleepers)
    wait_until(
        lambda: len(measured(manager.journal, seen)) >= 2, f"samples of {seen}", SAMPLE_SECONDS
    )
    assert manager.status()["runs_resumed"] == 0
    before = planned_on_nodes(manager, sleepers)
    assert len(before) == 5, before
    assert all(is_planned_by_profile(one) for one in before), before
    asked = ("--resource-manager", manager.url)
    with (
        watching(checkout, work / "status.txt", "status", *asked) as status,
        watching(checkout, work / "explain.txt", "explain", sleepers, *asked) as explain,
    ):
        firsts = {status: "Mode enforce, and the core is in service", explain: f"{sleepers} ("}
        began = {one: one.wait_printed(first) for one, first in firsts.items()}
        manager.daemon.kill()
        lost_seconds = time.time() - samples_saved_at(manager.depository, sleepers)
        assert 0.0 <= lost_seconds <= LOST_SECONDS
        away = {one: one.wait_printed("no ResourceManager answers", began[one]) for one in firsts}
        manager.start()
        for one, first in firsts.items():
            one.wait_printed(first, since=away[one])
    wait_until(
        lambda: manager.running_nodes() == cluster.settings.nodes,
        "the nodes to register again",
        RECOVER_SECONDS,
    )
    wait_all_raised(cluster)
    assert_nothing_was_lost(cluster, sleepers)
    after = planned_on_nodes(manager, sleepers)
    assert len(after) == 5, after
    assert all(is_planned_by_profile(one) for one in after), after
    for one in ("container", "profile", "requested_memory_bytes"):
        assert [it[one] for it in after] == [it[one] for it in before], one
    # Recording continues, too.
    status = manager.status()
    assert (status["runs_recording"], status["runs_resumed"]) == (1, 1), status


def test_a_killed_node_manager_finds_its_containers_and_agent_again(
    cluster: Cluster, sleepers: str
) -> None:
    node_manager = cluster.node_managers[0]
    node_manager.daemon.kill()
    wait_lowered(cluster, 0)

    node_manager.start()
    wait_all_raised(cluster)
    assert_nothing_was_lost(cluster, sleepers)
