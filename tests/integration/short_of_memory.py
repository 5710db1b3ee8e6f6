"""A node that runs short of memory, and applications that make it so."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.settings import MEBIBYTE, NodeShape
from cluster.spark import SparkApplication, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker, elastane
from .expectations import wait_learned, wait_sampled

EXECUTOR_MB = 3072
START_SECONDS = 120.0
RUN_SECONDS = 180.0

needs_own_memory = pytest.mark.skipif(
    os.geteuid() != 0, reason="without root an agent has no memory of its own to read"
)


def start_node(
    start_cluster: ClusterMaker, work: Path, memory_mb: int, floor_mb: int, **settings: object
) -> Cluster:
    """One node, short of memory below the floor.

    Below half of it, the agent itself would kill a container.
    """
    return start_cluster(
        nodes=1,
        shape=NodeShape(
            memory_mb=memory_mb, vcores=16, cpu_cores=8.0, disk_bytes_per_s=1_000_000_000
        ),
        own_memory=True,
        elastane=replace(elastane(work), max_ratio=3.0),
        # JVMs that give back memory could end the shortage, and no container would be named.
        agent={"memory.node_floor_bytes": floor_mb * MEBIBYTE, "jvm.follow": "false"},
        **settings,
    )


def let_learn(
    manager: ResourceManager, journal: Path, application: str, end: Callable[[], None]
) -> None:
    """Ends an application once it was measured; its run is then known."""
    wait_sampled(journal, application)
    end()
    assert wait_ended(manager, application, RUN_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, application)


class Holder:
    """An application whose executors hold a given amount of memory."""

    def __init__(self, name: str, executors: int, work: Path, checkout: Checkout) -> None:
        self._executors = executors
        # A key keeps only a path's last component, so both are runs of one application.
        self._folder = work / name / "orders"
        self._folder.mkdir(parents=True)
        self.application = SparkApplication(
            "holder",
            checkout.tests / "jobs" / "hold_memory.py",
            (str(self._folder), str(executors)),
            executors=executors,
            executor_memory_mb=EXECUTOR_MB - 384,
            properties={
                # The first failure counted by Spark would end the application.
                "spark.task.maxFailures": "1",
                "spark.executor.maxNumFailures": "1",
                # Otherwise a lesson of two executors, of which one fits, waits 30 s for both.
                "spark.scheduler.minRegisteredResourcesRatio": "0",
            },
        )

    def wait_started(self, tasks: int | None = None) -> None:
        wanted = tasks or self._executors

        def all_run() -> bool:
            return all((self._folder / f"task-{one}-0").exists() for one in range(wanted))

        wait_until(all_run, f"the tasks of {self._folder}", START_SECONDS)

    def wait_started_again(self) -> None:
        wait_until(lambda: list(self._folder.glob("task-*-1")), "a second attempt", START_SECONDS)

    def hold(self, megabytes: int) -> None:
        self._order("hold-mb", str(megabytes))

    def end(self) -> None:
        self._order("end", "")

    def _order(self, name: str, text: str) -> None:
        whole = self._folder / f"{name}.part"
        whole.write_text(text)
        whole.rename(self._folder / name)
