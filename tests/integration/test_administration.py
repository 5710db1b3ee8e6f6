"""A backup is restored, Elastane is upgraded, and CapacityScheduler comes back, by the steps of
docs/depository.md and docs/roll-out.md. One application runs through all of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers, sleeping
from cluster.elastane_command import run_elastane
from cluster.installed import Installed
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.resource_manager import ELASTANE, STOCK
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import alarm
from .conftest import ClusterMaker, elastane
from .expectations import (
    wait_all_raised,
    wait_all_reporting,
    wait_asleep,
    wait_containers,
    wait_learned,
    wait_sampled,
)

NAME = "sleepers"
SLEEPERS = 3
START_SECONDS = 90.0
END_SECONDS = 60.0
# The ledger is written once a minute.
LEDGER_SECONDS = 90.0
# A recovered NodeManager waits 10 s for its applications.
STOP_SECONDS = 60.0
PLAN_MS = 10_000
LIMITS_SECONDS = 30.0


@dataclass(frozen=True)
class Running:
    """An application that no step may disturb, and an earlier run of it."""

    lesson: str
    application: str
    processes: set[int]


@pytest.fixture(scope="module")
def checkout() -> Iterator[Installed]:
    one = Installed()
    one.install()
    yield one
    shutil.rmtree(one.folder)


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    settings = elastane(work, **{"plan.valid-for-ms": PLAN_MS})
    own_folder = replace(settings, depository=work / "depository" / "depository.sqlite")
    return start_cluster(nodes=1, recovery=True, elastane=own_folder)


@pytest.fixture(scope="module")
def running(cluster: Cluster, work: Path, checkout: Installed) -> Iterator[Running]:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    wait_all_reporting(cluster)
    with alarm() as end:
        lesson = shell.submit(Sleepers(NAME, SLEEPERS, memory_mb=512, until_pid=end.pid))
        wait_sampled(manager.journal, lesson)
    assert wait_ended(manager, lesson, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(manager.journal, lesson)
    with alarm() as end:
        application = shell.submit(Sleepers(NAME, SLEEPERS, memory_mb=512, until_pid=end.pid))
        wait_containers(cluster, application, SLEEPERS + 1, START_SECONDS)
        wait_asleep(cluster, SLEEPERS, START_SECONDS)
        yield Running(lesson, application, set(sleeping(str(work))))
    ended = wait_ended(manager, application, END_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED", ended["diagnostics"]
    assert ended["preemptedResourceMB"] == 0


def test_jar_library_and_agent_are_replaced_while_they_run(
    cluster: Cluster, running: Running, checkout: Installed
) -> None:
    manager = cluster.resource_manager
    [agent], [node_manager] = cluster.agents, cluster.node_managers
    checkout.install()
    daemons = [manager.daemon, agent.daemon, node_manager.daemon]
    assert all(checkout.runs_replaced_files(one.pid) for one in daemons)
    # What has the old files open goes on until its restart.
    assert manager.status()["in_service"]

    manager.daemon.stop()
    manager.start()
    wait_goes_on(cluster, running)
    agent.daemon.stop()
    agent.start()
    node_manager.daemon.stop(STOP_SECONDS)
    node_manager.start()
    wait_goes_on(cluster, running)
    daemons = [manager.daemon, agent.daemon, node_manager.daemon]
    assert not any(checkout.runs_replaced_files(one.pid) for one in daemons)


def test_a_snapshot_of_a_running_resource_manager_restores_an_empty_directory(
    cluster: Cluster, running: Running, work: Path, checkout: Installed
) -> None:
    manager = cluster.resource_manager
    file = manager.depository
    backup = work / "backup" / file.name
    backup.parent.mkdir()
    wait_until(
        lambda: in_ledger(file, running.lesson, checkout), "a run in the ledger", LEDGER_SECONDS
    )
    run_elastane(checkout, "depository", "snapshot", file, backup)
    booked = in_ledger(backup, running.lesson, checkout)
    assert booked is not None

    manager.daemon.stop()
    shutil.rmtree(file.parent)
    file.parent.mkdir()
    subprocess.run(["install", "-m", "600", backup, file], check=True)
    manager.start()

    wait_goes_on(cluster, running)
    assert manager.counters()["DepositoryInService"] == 1
    assert in_ledger(file, running.lesson, checkout) == booked
    listed = run_elastane(checkout, "profiles", "list", "--json", "--depository", file)
    assert [(one["name"], one["runs"]) for one in json.loads(listed)] == [(NAME, 1)]


def test_capacity_scheduler_comes_back_and_leaves_again(
    cluster: Cluster, running: Running, checkout: Installed
) -> None:
    manager = cluster.resource_manager
    wait_until(lambda: limits(cluster), "limits", LIMITS_SECONDS)
    manager.daemon.stop()
    manager.scheduler = STOCK
    manager.start()
    cluster.wait_registered()
    wait_until(lambda: limits(cluster) == [], "no limits", LIMITS_SECONDS)
    assert_untouched(cluster, running)
    with pytest.raises(ProcessEnded, match="its scheduler is not ElastaneScheduler"):
        run_elastane(checkout, "status", "--resource-manager", manager.url)

    manager.daemon.stop()
    manager.scheduler = ELASTANE
    manager.start()
    wait_goes_on(cluster, running)
    wait_until(lambda: limits(cluster), "limits", LIMITS_SECONDS)


def wait_goes_on(cluster: Cluster, running: Running) -> None:
    """Waits until the node is raised by what is known of the application, whose processes stay."""
    cluster.wait_registered()
    wait_all_raised(cluster)
    assert cluster.resource_manager.status()["profiles"] == 1
    assert_untouched(cluster, running)


def assert_untouched(cluster: Cluster, running: Running) -> None:
    wait_containers(cluster, running.application, SLEEPERS + 1, START_SECONDS)
    assert set(sleeping(str(cluster.settings.work))) == running.processes


def limits(cluster: Cluster) -> list[float] | None:
    """What the agents have in force of all containers; None until they know all of them."""
    shown = [one for agent in cluster.agents for one in agent.containers()]
    if len(shown) != SLEEPERS + 1:
        return None
    return [limit for one in shown for limit in one["in_force"].values() if limit is not None]


def in_ledger(depository: Path, application: str, checkout: Checkout) -> dict[str, Any] | None:
    told = run_elastane(checkout, "report", "--json", "--by", "run", "--depository", depository)
    rows = (one for one in json.loads(told)["rows"] if one["of"] == application)
    return next(rows, None)
