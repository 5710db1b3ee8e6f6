"""Whether Elastane's view of the cluster is YARN's."""

from __future__ import annotations

import time
import urllib.error
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from cluster.cluster import Cluster
from cluster.processes import start_ticks
from cluster.resource_manager import ResourceManager
from cluster.rest import get_json
from cluster.settings import MEBIBYTE

EQUAL_SECONDS = 30.0
EVERY_SECONDS = 0.2


class Lost(Exception):
    """A switch has cost what it must not cost."""


@dataclass(frozen=True)
class Running:
    """A container's first process, by the pid file of its NodeManager."""

    node: str
    pid: int
    start_ticks: int


def running(cluster: Cluster, applications: list[str]) -> dict[str, Running]:
    """The containers of some applications that NodeManagers run, with their processes."""
    found = {}
    for node_manager in cluster.node_managers:
        for container in _on_node(node_manager.url):
            if application_of(container) not in applications:
                continue
            pid = node_manager.first_process(container)
            began = start_ticks(pid)
            if began is None:
                raise Lost(f"process {pid} of {container} has ended")
            found[container] = Running(node_manager.node_id, pid, began)
    return found


def known_to_yarn(manager: ResourceManager, application: str) -> set[str]:
    """The containers of an application's only attempt, by YARN's REST."""
    path = f"apps/{application}/appattempts"
    require_known(manager, application)
    attempts = manager.yarn_rest(path)["appAttempts"]["appAttempt"]
    if len(attempts) != 1:
        raise Lost(f"{application} has {len(attempts)} attempts")
    # With Timeline Service 1 the list would have ended containers as well.
    listed = manager.yarn_rest(f"{path}/{attempts[0]['appAttemptId']}/containers")["container"]
    return {one["containerId"] for one in listed if one["containerState"] == "RUNNING"}


def require_known(manager: ResourceManager, application: str) -> None:
    """Raises Lost if the ResourceManager answers that it does not know an application."""
    try:
        get_json(f"{manager.url}/ws/v1/cluster/apps/{application}")
    except urllib.error.HTTPError as answer:
        if answer.code == HTTPStatus.NOT_FOUND:
            raise Lost(f"{manager.identifier} does not know {application}") from answer
    except (OSError, ValueError):
        return  # busy, or not active yet; the patient questions that follow find out


def wait_equal(cluster: Cluster) -> None:
    """Waits until all views agree: they are read one after the other while applications come and
    go."""
    deadline = time.monotonic() + EQUAL_SECONDS
    while found := differences(cluster):
        if time.monotonic() >= deadline:
            raise Lost("views differ: " + "; ".join(found))
        time.sleep(EVERY_SECONDS)


def differences(cluster: Cluster) -> list[str]:
    """What Elastane shows and its core has booked, beside what YARN and its nodes say."""
    manager = cluster.resource_manager
    on_nodes = {one.node_id: set(_on_node(one.url)) for one in cluster.node_managers}
    yarn = {node["id"]: node for node in manager.nodes()}
    core = {node["node"]: node for node in manager.status()["nodes"]}
    shown = {node["node"]: node for node in manager.node_sizes()}
    found = []
    for node, containers in on_nodes.items():
        if node not in yarn or node not in core or node not in shown:
            found.append(f"{node} is missing")
            continue
        details = manager.elastane_rest(f"nodes/{node}")["containers"]
        listed = {one["container"] for one in details}
        booked = _booked_by_yarn(yarn[node])
        amounts = {
            "containers by id": (listed, containers),
            "containers with a plan": (
                {one["container"] for one in details if one["planned"] is not None},
                containers,
            ),
            "booked by the core": (_booked_by_core(core[node]), booked),
            "booked as shown": (
                (shown[node]["booked_memory_mb"], shown[node]["booked_vcores"]),
                booked[1:],
            ),
        }
        found += [
            f"{node}: {what}: Elastane {elastane}, YARN {others}"
            for what, (elastane, others) in amounts.items()
            if elastane != others
        ]
    return found + _queue_differences(manager, yarn)


def _queue_differences(manager: ResourceManager, nodes: dict[str, Any]) -> list[str]:
    """What the only leaf queue has booked, beside what is booked on all nodes."""
    scheduler = manager.yarn_rest("scheduler")["scheduler"]["schedulerInfo"]
    [leaf] = scheduler["queues"]["queue"]
    by_yarn = (leaf["resourcesUsed"]["memory"], leaf["resourcesUsed"]["vCores"])
    by_queue = {one["queue"]: one["labels"] for one in manager.queues()}
    columns = ("booked_memory_mb", "booked_vcores")
    shown = tuple(sum(label[it] for label in by_queue["root.default"]) for it in columns)
    columns = ("usedMemoryMB", "usedVirtualCores")
    of_nodes = tuple(sum(node[it] for node in nodes.values()) for it in columns)
    if shown == by_yarn == of_nodes:
        return []
    return [f"queue: Elastane {shown}, YARN {by_yarn}, its nodes {of_nodes}"]


def _booked_by_yarn(node: dict[str, Any]) -> tuple[int, int, int]:
    return node["numContainers"], node["usedMemoryMB"], node["usedVirtualCores"]


def _booked_by_core(node: dict[str, Any]) -> tuple[int, int, int]:
    return node["containers"], node["booked_memory_bytes"] // MEBIBYTE, node["booked_vcores"]


def _on_node(url: str) -> list[str]:
    listed = get_json(f"{url}/ws/v1/node/containers")["containers"]
    containers = listed["container"] if listed else []
    return [one["id"] for one in containers if one["state"] in ("NEW", "RUNNING", "LOCALIZING")]


def application_of(container: str) -> str:
    """`container_e17_1410901177871_0001_01_000005` is of application_1410901177871_0001; `e17`
    counts failovers and is missing before the first."""
    stamp, number = container.split("_")[-4:-2]
    return f"application_{stamp}_{number}"
