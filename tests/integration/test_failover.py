"""Two ResourceManagers share their depositories in HDFS, and an administrator changes roles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.browser import Browser
from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers, sleeping
from cluster.elastane_command import run_elastane
from cluster.hdfs import Hdfs
from cluster.paths import Checkout
from cluster.processes import open_files, thread_names
from cluster.resource_manager import ResourceManager
from cluster.settings import NodeShape
from cluster.spark import SparkApplication, Submitter, wait_ended
from cluster.waiting import wait_until

from .alarm import alarm
from .conftest import ClusterMaker, elastane
from .expectations import (
    is_planned_by_profile,
    placements,
    planned_on_nodes,
    wait_all_reporting,
    wait_asleep,
    wait_containers,
    wait_learned,
    wait_sampled,
)

RUN_SECONDS = 240.0
START_SECONDS = 90.0
END_SECONDS = 60.0
SHARE_SECONDS = 60.0
HDFS_SECONDS = 90.0
# The shortest allowed interval.
SHARED_EVERY_MS = 10_000
DIRECTORY = "/elastane"
# Room for all applications by request beside the sleepers, each of which books a whole core.
SHAPE = NodeShape(memory_mb=3072, vcores=16, cpu_cores=8.0, disk_bytes_per_s=1_000_000_000)
SLEEPERS = 2
RESTING = "resting"
OF_AN_END = ("java.lang.InterruptedException", "InterruptedException: sleep interrupted")
THREADS_OF_A_CORE = [
    "elastane-deposi",
    "elastane-journa",
    "elastane-learne",
    "elastane-starts",
]


@pytest.fixture(scope="module")
def hdfs(work: Path, checkout: Checkout) -> Iterator[Hdfs]:
    with Hdfs(work.parent / "hdfs" / work.name, checkout) as one:
        yield one


@pytest.fixture(scope="module")
def cluster(hdfs: Hdfs, start_cluster: ClusterMaker, work: Path) -> Cluster:
    shared = {"depository.shared": f"hdfs://{DIRECTORY}"}
    every = {"depository.shared-every-ms": SHARED_EVERY_MS}
    return start_cluster(
        resource_managers=("rm1", "rm2"),
        recovery=True,
        shape=SHAPE,
        elastane=elastane(work, **shared, **every),
        resource_manager={"fs.defaultFS": hdfs.url},
    )


@pytest.fixture(scope="module")
def sleepers(cluster: Cluster, work: Path, checkout: Checkout) -> Iterator[str]:
    """An application that must survive all tests of this module."""
    wait_all_reporting(cluster)
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    with alarm() as end:
        wanted = Sleepers("sleepers", containers=SLEEPERS, memory_mb=256, until_pid=end.pid)
        application = shell.submit(wanted)
        wait_containers(cluster, application, SLEEPERS + 1, START_SECONDS)
        wait_asleep(cluster, SLEEPERS, START_SECONDS)
        yield application
    ended = wait_ended(cluster.resource_manager, application, END_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED", ended["diagnostics"]


@pytest.fixture(scope="module")
def pi(checkout: Checkout) -> SparkApplication:
    script = checkout.spark_examples / "pi.py"
    return SparkApplication("estimate-pi", script, ("20",), executor_memory_mb=640)


def runs_known(depository: Path, name: str, checkout: Checkout) -> int:
    """The number of an application's runs that `elastane profiles list` finds in a depository."""
    listed = run_elastane(checkout, "profiles", "list", "--json", "--depository", depository)
    return sum(one["runs"] for one in json.loads(listed) if one["name"] == name)


def wait_runs_known(depository: Path, name: str, runs: int, checkout: Checkout) -> None:
    wait_until(
        lambda: runs_known(depository, name, checkout) == runs,
        f"{runs} runs of {name} in {depository}",
        SHARE_SECONDS,
    )


def wait_shared(
    hdfs: Hdfs, manager: ResourceManager, name: str, runs: int, checkout: Checkout
) -> None:
    """Waits until a ResourceManager's shared copy has this many runs."""
    file = f"{manager.identifier}.sqlite"
    copy = manager.depository.with_name(f"copy-of-{file}")

    def is_shared() -> bool:
        written = hdfs.read(f"{DIRECTORY}/{file}")
        if written is None:
            return False
        copy.write_bytes(written)
        return runs_known(copy, name, checkout) == runs

    wait_until(is_shared, f"{runs} runs of {name} in {file} on {hdfs.url}", SHARE_SECONDS)


def wait_took_roles(cluster: Cluster, sleepers: str) -> None:
    """Asserts that nodes and agents have found the active ResourceManager and nothing was lost."""
    cluster.wait_registered()
    wait_all_reporting(cluster)
    wait_containers(cluster, sleepers, SLEEPERS + 1, START_SECONDS)
    assert len(sleeping(str(cluster.settings.work))) == SLEEPERS


def times_said(manager: ResourceManager, words: str) -> int:
    return manager.daemon.log.read_text(errors="replace").count(words)


def complaints(manager: ResourceManager) -> list[str]:
    """Errors except those that Hadoop logs whenever it ends a thread, and everything thrown
    through Elastane's code."""
    written = manager.daemon.log.read_text(errors="replace").splitlines()
    errors = [line for line in written if " ERROR " in line]
    traces = [line for line in written if line.startswith("\tat ") and "lastane" in line]
    return [line for line in errors if not line.endswith(OF_AN_END)] + traces


def wait_planned_by_profile(manager: ResourceManager, application: str) -> None:
    """Waits until an application's two containers run, and are planned by its profile."""

    def are_planned() -> bool:
        containers = planned_on_nodes(manager, application)
        return len(containers) == 2 and all(map(is_planned_by_profile, containers))

    wait_until(are_planned, f"{application} to be planned by its profile", SHARE_SECONDS)


def test_what_a_killed_resource_manager_learned_plans_what_runs_and_the_next_run(
    cluster: Cluster,
    hdfs: Hdfs,
    submitter: Submitter,
    sleepers: str,
    pi: SparkApplication,
    work: Path,
    checkout: Checkout,
) -> None:
    rm1, rm2 = cluster.resource_managers
    shell = DistributedShell(rm1, work, checkout)
    with alarm() as end:
        lesson = shell.submit(Sleepers(RESTING, containers=1, memory_mb=256, until_pid=end.pid))
        wait_sampled(rm1.journal, lesson)
    assert wait_ended(rm1, lesson, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(rm1.journal, lesson)
    first = submitter.submit(pi)
    assert wait_ended(rm1, first, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    assert all(one["profile"] is None for one in placements(rm1.journal, first))
    wait_learned(rm1.journal, pi.name)

    wait_shared(hdfs, rm1, pi.name, 1, checkout)
    assert hdfs.list("/")["elastane"]["permission"] == "700"
    assert hdfs.list(DIRECTORY)["rm1.sqlite"]["permission"] == "600"
    assert runs_known(rm2.depository, pi.name, checkout) == 0

    with alarm() as end:
        resting = shell.submit(Sleepers(RESTING, containers=1, memory_mb=256, until_pid=end.pid))
        # A container that was only allocated is not recovered.
        wait_asleep(cluster, SLEEPERS + 1, START_SECONDS)
        wait_planned_by_profile(rm1, resting)
        before = planned_on_nodes(rm1, resting)

        rm1.daemon.kill()
        cluster.fail_over(rm2, "--forceactive")
        cluster.wait_registered()
        wait_until(lambda: rm2.status()["profiles"] == 2, "the profiles on rm2", SHARE_SECONDS)
        assert runs_known(rm2.depository, pi.name, checkout) == 1
        wait_planned_by_profile(rm2, resting)
        after = planned_on_nodes(rm2, resting)
        for one in ("container", "profile", "requested_memory_bytes", "margin_percent"):
            assert [it[one] for it in after] == [it[one] for it in before], one
    assert wait_ended(rm2, resting, END_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_took_roles(cluster, sleepers)

    submitter.resource_manager = rm2
    second = submitter.submit(pi)
    assert wait_ended(rm2, second, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    placed = placements(rm2.journal, second)
    executors = [one for one in placed if not one["application_master"]]
    assert len(executors) >= pi.executors
    assert all(one["by_core"] for one in executors), executors
    assert all(one["profile"] for one in placed), placed


def test_roles_change_back_and_nothing_of_a_former_one_is_left(
    cluster: Cluster, hdfs: Hdfs, sleepers: str, pi: SparkApplication, checkout: Checkout
) -> None:
    rm1, rm2 = cluster.resource_managers
    rm1.start()
    assert rm1.high_availability_state() == "STANDBY"
    assert thread_names(rm1.daemon.pid, "elastane-") == THREADS_OF_A_CORE
    fresh = open_files(rm1.daemon.pid, rm1.depository)
    wait_shared(hdfs, rm2, pi.name, 2, checkout)

    cluster.administration.stand_by(rm2)
    assert thread_names(rm2.daemon.pid, "elastane-") == THREADS_OF_A_CORE
    assert open_files(rm2.daemon.pid, rm2.depository) == fresh
    counters = rm2.counters()
    assert (counters["AgentsFresh"], counters["AgentsSilent"]) == (0, 0)
    cluster.fail_over(rm1)
    wait_took_roles(cluster, sleepers)
    wait_runs_known(rm1.depository, pi.name, 2, checkout)
    assert complaints(rm1) + complaints(rm2) == []
    for node_manager in cluster.node_managers:
        log = node_manager.daemon.log.read_text()
        assert log.count("Lost the ResourceManager") == log.count("Reached the ResourceManager")


def test_the_page_of_the_standby_leads_to_that_of_the_active_one(
    cluster: Cluster, sleepers: str
) -> None:
    active = cluster.resource_manager
    [standby] = [one for one in cluster.resource_managers if one is not active]
    assert standby.high_availability_state() == "STANDBY"
    containers = active.elastane_rest(f"applications/{sleepers}")["containers"]
    with Browser() as browser:
        browser.open(f"{standby.url}/elastane/#applications/{sleepers}")
        ids = [one["container"] for one in containers]
        browser.wait_text("main", f"in {SLEEPERS + 1} containers", *ids)
        # YARN names the host by the address's host name.
        port, hash_ = browser.run("return [location.port, location.hash]")
        assert active.url.endswith(f":{port}")
        assert hash_ == f"#applications/{sleepers}"
        assert browser.text("#errors") == ""
        assert browser.errors() == []


def test_the_command_follows_the_standby_to_the_active_one(
    cluster: Cluster, sleepers: str, checkout: Checkout
) -> None:
    active = cluster.resource_manager
    [standby] = [one for one in cluster.resource_managers if one is not active]
    told = run_elastane(checkout, "explain", sleepers, "--resource-manager", standby.url)
    assert f"{SLEEPERS + 1} containers" in told


def test_hdfs_that_is_read_only_or_away_stops_nothing(
    cluster: Cluster, hdfs: Hdfs, sleepers: str
) -> None:
    rm1, rm2 = cluster.resource_managers
    wait_until(lambda: "rm1.sqlite" in hdfs.list(DIRECTORY), "a copy", SHARE_SECONDS)
    copies = sum(name.endswith(".sqlite") for name in hdfs.list(DIRECTORY))
    took_over = times_said(rm2, "runs are taken over from")
    hdfs.enter_safe_mode()
    cluster.administration.stand_by(rm1)
    cluster.fail_over(rm2)
    wait_took_roles(cluster, sleepers)
    wait_until(
        lambda: times_said(rm2, "runs are taken over from") == took_over + copies,
        f"{copies} copies that are read",
        SHARE_SECONDS,
    )
    wait_until(lambda: rm2.counters()["SharingFailures"], "a copy that fails", SHARE_SECONDS)

    hdfs.name_node.kill()
    failures = rm2.counters()["SharingFailures"]
    wait_until(
        lambda: rm2.counters()["SharingFailures"] > failures, "another that fails", SHARE_SECONDS
    )
    wait_took_roles(cluster, sleepers)
    assert rm2.counters()["InService"] == 1
    # A restarted NameNode leaves safe mode by itself.
    hdfs.name_node.start()
    wait_until(lambda: times_said(rm2, "is shared again") == 1, "a copy", HDFS_SECONDS)
    assert times_said(rm2, "The depository is not shared") == 1
