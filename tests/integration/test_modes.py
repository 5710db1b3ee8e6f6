"""The mode changes while applications run, and no container ends by that."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from cluster.settings import MEBIBYTE
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import SHAPE, ClusterMaker, elastane
from .described import assert_as_described, description_of
from .expectations import (
    RAISE_SECONDS,
    executors,
    measured,
    wait_all_raised,
    wait_all_reporting,
    wait_bookable,
    wait_containers,
    wait_learned,
    wait_lowered,
    wait_sampled,
)

CONTAINER_MB = 512
WAIT_SECONDS = 120.0
# Of 2 nodes of 2048 MB.
PHYSICAL_CONTAINERS = 8
LIFTED_SECONDS = 15.0
GB_HOUR_PRICE = 1000


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    file = {"observe.file": work / "observe"}
    return start_cluster(elastane=replace(elastane(work, **file), mode="observe"))


@pytest.fixture
def never() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


def test_the_mode_changes_by_refresh_and_by_a_file_and_nothing_ends(
    cluster: Cluster, never: Alarm, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)
    with alarm() as end:
        lesson = shell.submit(_sleepers(until=end))
        wait_sampled(journal, lesson)
    assert wait_ended(manager, lesson, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, lesson)
    application = shell.submit(_sleepers(until=never))
    wait_containers(cluster, application, PHYSICAL_CONTAINERS, WAIT_SECONDS)
    assert _running(cluster, application) == PHYSICAL_CONTAINERS
    assert manager.status()["mode"] == "observe"

    manager.rewrite_settings({"mode": "enforce"})
    cluster.administration.refresh_queues()
    assert manager.status()["mode"] == "enforce"
    wait_containers(cluster, application, PHYSICAL_CONTAINERS + 1, WAIT_SECONDS)
    wait_until(lambda: _limited(journal, application), "a container with a limit", WAIT_SECONDS)

    manager.rewrite_settings({"mode": "enforce", "overcommit.max-ratio": 11})
    with pytest.raises(ProcessEnded, match=r"max-ratio is '11', allowed is 1 to 10"):
        cluster.administration.refresh_queues()
    assert manager.status()["mode"] == "enforce"

    file = work / "observe"
    file.touch()
    ran = _wait_observed(cluster, journal, application)
    assert manager.counters()["ObserveFile"] == 1
    file.unlink()
    wait_all_raised(cluster)
    assert _running(cluster, application) >= ran

    manager.rewrite_settings({"mode": "observe"})
    cluster.administration.refresh_queues()
    _wait_observed(cluster, journal, application)

    canary, other = (one.node_id for one in cluster.node_managers)
    manager.rewrite_settings({"mode": "observe", "mode.enforced-nodes": canary})
    cluster.administration.refresh_queues()
    wait_bookable(cluster, 0, lambda mb: mb > SHAPE.memory_mb, RAISE_SECONDS)
    assert manager.bookable_memory_mb()[other] == SHAPE.memory_mb
    modes = {one["node"]: one["mode"] for one in manager.node_sizes()}
    assert modes == {canary: "enforce", other: "observe"}
    assert manager.application(application)["preemptedResourceMB"] == 0
    assert manager.application(application)["state"] == "RUNNING"


def test_what_enforce_would_have_won_is_replayed(
    cluster: Cluster, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    journal = work / "journal.jsonl"
    with pytest.raises(ProcessEnded, match=r"elastane\.mode to advise"):
        _advice(cluster, checkout)
    manager.rewrite_settings({"mode": "advise", "price.gb-hour": GB_HOUR_PRICE})
    cluster.administration.refresh_queues()
    assert manager.status()["mode"] == "advise"
    with alarm() as first_ends, alarm() as second_ends:
        # By request the first one fills the cluster: the second one waits for its end.
        first = shell.submit(_sleepers(until=first_ends, name="sleepers-first"))
        wait_containers(cluster, first, PHYSICAL_CONTAINERS, WAIT_SECONDS)
        second = shell.submit(_sleepers(until=second_ends, name="sleepers-second"))
        wait_sampled(journal, first)
        first_ends.ring()
        assert wait_ended(manager, first, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
        wait_containers(cluster, second, PHYSICAL_CONTAINERS, WAIT_SECONDS)
        assert max(manager.bookable_memory_mb().values()) == SHAPE.memory_mb
        wait_sampled(journal, second)
    assert wait_ended(manager, second, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, first)
    wait_learned(journal, second)
    advice = _advice(cluster, checkout)
    assert advice["problem"] is None
    assert advice["applications"] == 2
    assert advice["containers_earlier"] > 0
    capacity, enforce = advice["capacity"], advice["enforce"]
    assert enforce["mean_completion_s"] < capacity["mean_completion_s"]
    assert {one["id"] for one in advice["by_application"]} == {first, second}
    answer = manager.elastane_rest("advice")
    assert answer["advice"] is not None
    assert_as_described(answer, "/v1/advice", description_of(manager))


def test_what_was_booked_and_used_is_in_the_report(
    cluster: Cluster, work: Path, checkout: Checkout
) -> None:
    def report(*arguments: object) -> str:
        depository = work / "depository.sqlite"
        return run_elastane(checkout, "report", "--depository", depository, *arguments)

    def used() -> dict[str, Any] | None:
        rows = json.loads(report("--json", "--by", "run"))["rows"]
        own = (one for one in rows if one["name"] == "sleepers-modes")
        return next((one for one in own if one["used_gb_hours"] > 0), None)

    # The ledger gets what there is once a minute.
    run = wait_until(used, "a run in the ledger", WAIT_SECONDS)
    assert run["containers"] >= PHYSICAL_CONTAINERS
    assert run["booked_gb_hours"] > run["wasted_gb_hours"] > run["used_gb_hours"]
    assert run["largest_request_bytes"] == CONTAINER_MB * MEBIBYTE
    assert run["could_ask_bytes"] < CONTAINER_MB * MEBIBYTE, "they only sleep"

    def of_application(name: str) -> dict[str, str] | None:
        rows = csv.DictReader(report("--csv", "--since", "1d").splitlines())
        return next((one for one in rows if one["name"] == name), None)

    priced = wait_until(
        lambda: of_application("sleepers-first"), "what had a price in the ledger", WAIT_SECONDS
    )
    booked_gb_hours = float(priced["booked_gb_hours"])
    assert float(priced["cost"]) == pytest.approx(GB_HOUR_PRICE * booked_gb_hours, rel=0.01)
    page = work / "report.html"
    report("--html", page, "--since", "7d")
    assert "sleepers-modes" in page.read_text()


def _advice(cluster: Cluster, checkout: Checkout) -> dict[str, Any]:
    url = cluster.resource_manager.url
    told = run_elastane(checkout, "advise", "--resource-manager", url, "--json")
    advice: dict[str, Any] = json.loads(told)
    return advice


def _wait_observed(cluster: Cluster, journal: Path, application: str) -> int:
    """Waits until nodes are at their sizes and no limit is left; the containers stay."""
    for index in range(len(cluster.node_managers)):
        wait_lowered(cluster, index)
    running = _running(cluster, application)
    assert running > PHYSICAL_CONTAINERS
    wait_until(lambda: not _limited(journal, application), "limits to be lifted", LIFTED_SECONDS)
    assert _running(cluster, application) == running
    return running


def _limited(journal: Path, application: str) -> bool:
    """Whether an executor had a CPU weight by the latest report."""
    latest = [measured(journal, one)[-1:] for one in executors(journal, application)]
    return any(one["limit_weight_cores"] is not None for [one] in filter(None, latest))


def _running(cluster: Cluster, application: str) -> int:
    return cluster.resource_manager.application(application)["runningContainers"]


def _sleepers(until: Alarm, name: str = "sleepers-modes") -> Sleepers:
    return Sleepers(
        name,
        containers=2 * PHYSICAL_CONTAINERS - 1,
        memory_mb=CONTAINER_MB,
        until_pid=until.pid,
        queue="default",
        master_memory_mb=CONTAINER_MB,
    )
