"""The conditions that tests wait for, each with its deadline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cluster.cluster import Cluster
from cluster.distributed_shell import sleeping
from cluster.journal import records
from cluster.resource_manager import ResourceManager
from cluster.waiting import wait_until

# A node is lost after 10 s without a report, and the next heartbeat acts on it.
FALL_BACK_SECONDS = 15.0
RAISE_SECONDS = 90.0
FRESH_MS = 5_000
LEARN_SECONDS = 30.0
SAMPLE_SECONDS = 60.0
IDLE_CPU_CORES = 0.05


def physical_memory_mb(cluster: Cluster) -> int:
    return cluster.settings.shape.memory_mb


def wait_bookable(
    cluster: Cluster, node_index: int, expected: Callable[[int], bool], seconds: float
) -> None:
    """Waits until the bookable memory of a node, in MB, is as expected."""
    node = cluster.node_managers[node_index].node_id
    wait_until(
        lambda: expected(cluster.resource_manager.bookable_memory_mb().get(node, 0)),
        f"the expected bookable memory on {node}",
        seconds,
    )


def wait_lowered(cluster: Cluster, node_index: int) -> None:
    """Waits until a node whose agent is silent is back at its physical size."""
    physical = physical_memory_mb(cluster)
    wait_bookable(cluster, node_index, lambda bookable: bookable == physical, FALL_BACK_SECONDS)


def wait_all_raised(cluster: Cluster) -> None:
    """Waits until every node is larger than its physical size, as what runs needs little."""
    physical = physical_memory_mb(cluster)
    for index in range(len(cluster.node_managers)):
        wait_bookable(cluster, index, lambda bookable: bookable > physical, RAISE_SECONDS)


def wait_all_reporting(cluster: Cluster) -> None:
    """Waits until the core has a fresh report of every node."""

    def all_report() -> bool:
        ages = [node["report_age_ms"] for node in cluster.resource_manager.status()["nodes"]]
        return len(ages) == len(cluster.node_managers) and all(
            age is not None and age < FRESH_MS for age in ages
        )

    wait_until(all_report, "a report of every node", RAISE_SECONDS)


def wait_learned(journal: Path, name: str) -> None:
    """Waits until a run of this application, or the run of this id, is part of a profile."""

    def is_it(entry: dict[str, Any]) -> bool:
        return name in (entry["application"], *entry["profile"].split("|"))

    wait_until(
        lambda: any(map(is_it, records(journal, "learned"))),
        f"a profile of {name} in {journal}",
        LEARN_SECONDS,
    )


def wait_sampled(journal: Path, application: str) -> None:
    """Waits until the agents have reported each container of an application twice."""

    def sampled() -> bool:
        placed = {one["container"] for one in placements(journal, application)}
        seen = Counter(one["container"] for one in _reported(journal))
        return bool(placed) and all(seen[container] >= 2 for container in placed)

    wait_until(sampled, f"samples of {application} in {journal}", SAMPLE_SECONDS)


def wait_measured(journal: Path, containers: list[str], memory_bytes: int) -> None:
    """Waits until the agents have measured this much memory in each container."""

    def all_hold() -> bool:
        latest = [measured(journal, one)[-1:] for one in containers]
        return all(one and one[0]["used"]["memory_bytes"] >= memory_bytes for one in latest)

    wait_until(all_hold, f"{memory_bytes} B in each of {containers} in {journal}", SAMPLE_SECONDS)


def wait_idle(journal: Path, application: str) -> None:
    """Waits until each container has used next to no CPU in two reports in a row."""

    def idle() -> bool:
        placed = {one["container"] for one in placements(journal, application)}
        used = defaultdict(list)
        for one in _reported(journal):
            used[one["container"]].append(one["used"]["cpu_cores"])
        latest = [used[container][-2:] for container in placed]
        return bool(placed) and all(
            len(cores) == 2 and max(cores) < IDLE_CPU_CORES for cores in latest
        )

    wait_until(idle, f"idle containers of {application} in {journal}", SAMPLE_SECONDS)


def placements(journal: Path, application: str) -> list[dict[str, Any]]:
    return [one for one in records(journal, "placed") if one["application"] == application]


def containers(journal: Path, application: str) -> list[str]:
    """An application's containers, oldest first."""
    return [one["container"] for one in placements(journal, application)]


def planned_on_nodes(manager: ResourceManager, application: str) -> list[dict[str, Any]]:
    """An application's containers as REST shows them with their nodes, by id."""
    shown = [manager.elastane_rest(f"nodes/{node['node']}") for node in manager.node_sizes()]
    containers = [one for node in shown for one in node["containers"]]
    return sorted(
        (one for one in containers if one["application"] == application),
        key=lambda one: one["container"],
    )


def is_planned_by_profile(container: dict[str, Any]) -> bool:
    """Whether a container of REST has the plan of a profile, and not its request."""
    planned = container["planned"]["memory_bytes"]
    return container["profile"] is not None and planned < container["requested_memory_bytes"]


def executors(journal: Path, application: str) -> list[str]:
    """An application's containers without its ApplicationMaster, oldest first."""
    placed = placements(journal, application)
    return [one["container"] for one in placed if not one["application_master"]]


def master(journal: Path, application: str) -> str:
    placed = placements(journal, application)
    return next(one["container"] for one in placed if one["application_master"])


def measured(journal: Path, container: str) -> list[dict[str, Any]]:
    """The agents' reports of a container, oldest first."""
    return [one for one in _reported(journal) if one["container"] == container]


def _reported(journal: Path) -> Iterator[dict[str, Any]]:
    """The agents' reports of all containers, oldest first."""
    for entry in records(journal, "node"):
        yield from entry["containers"]


def weights_in_force(journal: Path, container: str) -> set[float]:
    """The CPU weights that the agent wrote for a container, from its reports."""
    weights = (one["limit_weight_cores"] for one in measured(journal, container))
    return {weight for weight in weights if weight is not None}


def wait_asleep(cluster: Cluster, count: int, seconds: float) -> None:
    """Waits until this many sleepers' commands run: YARN counts a container as running earlier."""

    def asleep() -> bool:
        return len(sleeping(str(cluster.settings.work))) >= count

    wait_until(asleep, f"{count} sleepers that sleep", seconds)


def wait_containers(cluster: Cluster, application: str, count: int, seconds: float) -> None:
    """Waits until an application runs at least this many containers, with its ApplicationMaster."""
    wait_until(
        lambda: cluster.resource_manager.application(application)["runningContainers"] >= count,
        f"{count} containers of {application}",
        seconds,
    )


def wait_all_measured(cluster: Cluster, application: str, seconds: float) -> None:
    """Waits until every container of an application has a sample."""

    def are_measured() -> bool:
        containers = cluster.resource_manager.elastane_rest(f"applications/{application}")
        return all(one["measured"] for one in containers["containers"])

    wait_until(are_measured, "samples of all containers", seconds)


def wait_waiting(cluster: Cluster, application: str, seconds: float) -> None:
    """Waits until an application waits for containers."""

    def waits() -> bool:
        found = cluster.resource_manager.elastane_rest("applications?state=waiting")
        return application in [one["application"] for one in found["applications"]]

    wait_until(waits, f"{application} to wait", seconds)
