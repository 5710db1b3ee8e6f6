"""Elastane's REST on a real cluster: it says what its description allows, and what is so."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.elastane_command import run_elastane, watching
from cluster.paths import Checkout
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import SHAPE, ClusterMaker
from .described import assert_as_described, description_of
from .expectations import (
    wait_all_measured,
    wait_all_reporting,
    wait_containers,
    wait_waiting,
)

CONTAINER_MB = 512
CONTAINERS = 3
WAIT_SECONDS = 60.0
QUEUE = "root.default"
# What changes only when a container starts or ends.
OF_CONTAINER = (
    "container",
    "application",
    "node",
    "application_master",
    "requested_memory_bytes",
    "requested_vcores",
)
OF_NODE = ("node", "label", "mode", "physical_memory_mb", "booked_memory_mb", "booked_vcores")
OF_QUEUE = ("queue", "mode", "state", "applications")
OF_LABEL = ("label", "capacity_percent", "physical_memory_mb", "booked_memory_mb", "booked_vcores")
# More than the cluster has.
MANY = 9
# Of 4096 MB: two application masters of 256 MB may run.
MASTERS = {"yarn.scheduler.capacity.root.default.maximum-am-resource-percent": 0.125}


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    cluster = start_cluster(capacity_scheduler=MASTERS)
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture(scope="module")
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def running(cluster: Cluster, until: Alarm, work: Path, checkout: Checkout) -> str:
    """An application whose containers all run and were measured."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers("asleep", CONTAINERS, CONTAINER_MB, until.pid))
    wait_containers(cluster, application, CONTAINERS + 1, WAIT_SECONDS)
    wait_all_measured(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def waiting(cluster: Cluster, running: str, until: Alarm, work: Path, checkout: Checkout) -> str:
    """An application that waits for containers, beside the one that runs."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers("many", MANY, CONTAINER_MB, until.pid))
    # Until its master has asked, it waits for the master alone, and then for nothing.
    wait_containers(cluster, application, 2, WAIT_SECONDS)
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def held(cluster: Cluster, waiting: str, until: Alarm, work: Path, checkout: Checkout) -> str:
    """An application whose queue has as many application masters as it may have."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers("held", 1, CONTAINER_MB, until.pid))
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


def test_every_answer_is_as_described(
    cluster: Cluster, running: str, waiting: str, held: str
) -> None:
    manager = cluster.resource_manager
    description = description_of(manager)
    node = manager.node_sizes()[0]["node"]
    checked = []
    for path in description["paths"]:
        of_application = "{application}" in path
        for application in (running, waiting, held) if of_application else (running,):
            filled = path.replace("{node}", node).replace("{application}", application)
            answer = manager.elastane_rest(filled.removeprefix("/v1/"))
            assert_as_described(answer, path, description)
            checked.append(path)
    assert len(checked) == 14


def test_a_container_is_where_it_runs_with_what_it_uses(cluster: Cluster, running: str) -> None:
    manager = cluster.resource_manager
    application = manager.elastane_rest(f"applications/{running}")
    assert application["name"] == "asleep"
    assert application["running_containers"] == CONTAINERS + 1
    container = next(one for one in application["containers"] if not one["application_master"])
    assert container["requested_memory_bytes"] == CONTAINER_MB << 20
    assert 0 < container["measured"]["used"]["memory_bytes"] < CONTAINER_MB << 20

    node = manager.elastane_rest(f"nodes/{container['node']}")
    assert node["physical_memory_mb"] == SHAPE.memory_mb
    assert container["container"] in [one["container"] for one in node["containers"]]
    planned = node["planned"]["memory_bytes"][0]
    assert planned >= sum(one["planned"]["memory_bytes"] for one in node["containers"]) * 0.99


def test_every_placed_container_has_its_decision(cluster: Cluster, running: str) -> None:
    manager = cluster.resource_manager
    found = manager.elastane_rest(f"decisions?application={running}&kind=placed")
    assert len(found["decisions"]) == CONTAINERS + 1
    container = found["decisions"][0]["container"]
    one = manager.elastane_rest(f"decisions?container={container}")["decisions"]
    assert [(it["kind"], it["application"]) for it in one] == [("placed", running)]


def test_who_waits_is_told_why(cluster: Cluster, waiting: str) -> None:
    application = cluster.resource_manager.elastane_rest(f"applications/{waiting}")
    assert application["state"] == "waiting"
    assert application["waiting"]["containers"] > 0
    assert application["waiting"]["reason"]


def test_who_waits_is_told_when_it_is_expected_to_start(
    cluster: Cluster, waiting: str, checkout: Checkout
) -> None:
    """Nobody has learned how long the containers run that it waits for."""

    def expected() -> dict[str, Any] | None:
        application = cluster.resource_manager.elastane_rest(f"applications/{waiting}")
        start: dict[str, Any] | None = application["waiting"]["expected_start"]
        return start

    start = wait_until(expected, "an expected start", WAIT_SECONDS)
    assert start["is_rough"] is True
    # The shortest time for which such a container is expected to go on is a minute.
    assert start["in_ms"] > 30_000
    told = _command(cluster, checkout, "explain", waiting)
    assert ", expected to start in very roughly " in told


def test_a_limit_of_capacity_scheduler_is_told_with_its_amounts(
    cluster: Cluster, waiting: str, held: str, checkout: Checkout
) -> None:
    def why(application: str) -> dict[str, Any]:
        return cluster.resource_manager.elastane_rest(f"applications/{application}")["waiting"]

    assert "maximum-am-resource-percent" in why(held)["reason"]
    assert why(held)["limit_of"] == "capacity-scheduler"
    _, _, told = _command(cluster, checkout, "explain", held).partition("CapacityScheduler says: ")
    for words in (why(held)["capacity_scheduler_says"], told):
        assert "Queue's AM resource limit exceeded" in words
        assert "Queue AM Resource Usage = <memory:512, vCores:2>" in words
    # Its executors wait for Elastane's plan, or for a container that fits the rest of the cluster.
    says = why(waiting)["capacity_scheduler_says"]
    assert says is None or says.startswith("queue root has <memory:")


def test_the_command_explains_what_runs_and_what_waits(
    cluster: Cluster, running: str, waiting: str, checkout: Checkout
) -> None:
    def explain(subject: str, *more: str) -> str:
        return _command(cluster, checkout, "explain", subject, *more)

    told = explain(running)
    assert f"{running} (asleep) of " in told
    assert "It waits for no container" in told
    application = cluster.resource_manager.elastane_rest(f"applications/{running}")
    *others, container = application["containers"]
    assert told.count(f"placed    {container['container']} ") == 1
    of_it = explain(container["container"])
    assert "(cores): its share of the node's CPU by virtual cores, since no profile" in of_it
    assert others
    assert not [other for other in others if other["container"] in of_it]
    assert f"placed    {container['container']} on {container['node']}" in of_it

    node = explain(container["node"])
    assert node.startswith(f"{container['node']}: mode enforce, its agent reported ")
    assert container["container"] in node

    assert "It waits for " in explain(waiting)
    assert f"{waiting} (many) waits for " in explain("root.default")
    assert json.loads(explain(waiting, "--json"))["application"]["state"] == "waiting"


def test_the_command_has_what_rest_has_as_json(
    cluster: Cluster, running: str, waiting: str, checkout: Checkout
) -> None:
    rest = cluster.resource_manager.elastane_rest

    def explain(subject: str) -> dict[str, Any]:
        all_decisions = ("--decisions", "1000")
        told = _command(cluster, checkout, "explain", subject, "--json", *all_decisions)
        return json.loads(told)

    container = rest(f"applications/{running}")["containers"][-1]
    name = container["container"]
    of_container = explain(name)
    (told,) = of_container["application"]["containers"]
    assert told.keys() == container.keys()
    assert _values(told, OF_CONTAINER) == _values(container, OF_CONTAINER)
    assert of_container["decisions"][::-1] == rest(f"decisions?container={name}")["decisions"]

    def node_figures(of: dict[str, Any]) -> tuple[Any, ...]:
        named = [_values(one, OF_CONTAINER) for one in of["containers"]]
        return (*_values(of, OF_NODE), named)

    node = container["node"]
    assert explain(node)["node"].keys() == rest(f"nodes/{node}").keys()
    # What waits may start between the two answers.
    wait_until(
        lambda: node_figures(explain(node)["node"]) == node_figures(rest(f"nodes/{node}")),
        f"explain and REST to tell the same of {node}",
        WAIT_SECONDS,
    )
    of_node = explain(node)
    assert of_node["node"]["node"] == node
    assert name in [one["container"] for one in of_node["node"]["containers"]]
    assert name in [one.get("container") for one in of_node["decisions"]]

    def queue_figures(of: dict[str, Any], waits: list[dict[str, Any]]) -> tuple[Any, ...]:
        sizes = [_values(one, OF_LABEL) for one in of["labels"]]
        return (*_values(of, OF_QUEUE), sizes, [one["application"] for one in waits])

    def by_command() -> tuple[Any, ...]:
        of_queue = explain(QUEUE)
        return queue_figures(of_queue["queue"], of_queue["waiting"])

    def by_rest() -> tuple[Any, ...]:
        (queue,) = (one for one in rest("queues")["queues"] if one["queue"] == QUEUE)
        found = rest(f"applications?queue={QUEUE}&state=waiting")["applications"]
        return queue_figures(queue, found)

    assert waiting in by_command()[-1]
    wait_until(
        lambda: by_command() == by_rest(),
        f"explain and REST to tell the same of {QUEUE}",
        WAIT_SECONDS,
    )


def test_the_command_shows_how_the_cluster_stands(
    cluster: Cluster, waiting: str, held: str, checkout: Checkout
) -> None:
    told = _command(cluster, checkout, "status")
    lines = told.splitlines()
    [at] = [place for place, line in enumerate(lines) if line.startswith(f"{held} (")]
    assert lines[at].endswith(" (limit of CapacityScheduler)")
    assert lines[at + 1].startswith("  CapacityScheduler says: ")
    assert told.startswith("Mode enforce, and the core is in service\n2 nodes: ")
    # Of an application, Hadoop 3.3.6 gives the queue without its path.
    assert re.search(rf"{waiting} \(many, (root\.)?default\) waits for ", told)
    assert "root.default" in told


@pytest.mark.parametrize("subject", [("status",), ("explain", QUEUE)])
def test_what_is_watched_changes_with_the_cluster_until_ctrl_c(
    subject: tuple[str, ...],
    cluster: Cluster,
    held: str,
    until: Alarm,
    work: Path,
    checkout: Checkout,
) -> None:
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    output = work / f"{subject[0]}.txt"
    with watching(checkout, output, *subject, "--resource-manager", manager.url) as watched:
        before = watched.wait_printed(f"{held} (held")
        application = shell.submit(Sleepers("watched", 1, CONTAINER_MB, until.pid))
        watched.wait_printed(f"{application} (watched", since=before)
        assert watched.interrupt() == -signal.SIGINT


def _values(of: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(of[name] for name in names)


def _command(cluster: Cluster, checkout: Checkout, *arguments: str) -> str:
    return run_elastane(checkout, *arguments, "--resource-manager", cluster.resource_manager.url)
