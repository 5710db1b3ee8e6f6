"""An executor leaves a node that is short of memory: Spark moves its cached blocks, no task fails,
and another executor takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.journal import records
from cluster.paths import Checkout
from cluster.settings import MEBIBYTE
from cluster.spark import SparkApplication, Submitter, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import (
    executors,
    wait_all_reporting,
    wait_measured,
)
from .short_of_memory import (
    EXECUTOR_MB,
    RUN_SECONDS,
    START_SECONDS,
    Holder,
    let_learn,
    needs_own_memory,
    start_node,
)

pytestmark = needs_own_memory

# By request, a driver (1024 MB) and two executors fill the node.
NODE_MB = 7168
FLOOR_MB = 3584
# Less than an executor gives back.
SHORT_MB = 128
PARTS = 8
PART_MB = 8

# Spark looks for blocks for the second time after 30 s.
LEAVE_SECONDS = 90.0


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    return start_node(start_cluster, work, NODE_MB, FLOOR_MB)


class Rounds:
    """An application that reads a cached table in rounds."""

    def __init__(self, name: str, work: Path, checkout: Checkout) -> None:
        # A key keeps only a path's last component, so all are runs of one application.
        self._folder = work / name / "orders"
        self._folder.mkdir(parents=True)
        self.application = SparkApplication(
            "rounds",
            checkout.tests / "jobs" / "cached_rounds.py",
            (str(self._folder), str(PARTS), str(PART_MB)),
            executor_memory_mb=EXECUTOR_MB - 384,
            properties={
                # The first failure counted by Spark would end the application.
                "spark.task.maxFailures": "1",
                "spark.executor.maxNumFailures": "1",
                # The first tasks run when both executors are there, so that each caches a part.
                "spark.scheduler.minRegisteredResourcesRatio": "1",
                "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
                # Blocks stay where they were made.
                "spark.locality.wait": "60s",
                "spark.decommission.enabled": "true",
                "spark.storage.decommission.enabled": "true",
            },
        )

    def number(self, name: str) -> int:
        path = self._folder / name
        return int(path.read_text()) if path.exists() else 0

    def holders(self) -> set[str]:
        """The containers that made parts of the table, and cached them."""
        return {path.read_text() for path in self._folder.glob("maker-*")}

    def wait_rounds(self, more: int) -> None:
        until = self.number("rounds") + more
        wait_until(lambda: self.number("rounds") >= until, f"{until} rounds", START_SECONDS)

    def end(self) -> None:
        (self._folder / "end").touch()


def test_an_executor_leaves_with_its_blocks_and_another_one_comes(
    cluster: Cluster, submitter: Submitter, work: Path, checkout: Checkout
) -> None:
    manager = cluster.resource_manager
    memory = cluster.agents[0].memory
    assert memory is not None
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)
    lesson = Holder("lesson", 1, work, checkout)
    learned = submitter.submit(lesson.application)
    lesson.wait_started()
    let_learn(manager, journal, learned, lesson.end)
    first = Rounds("first", work, checkout)
    learned = submitter.submit(first.application)
    first.wait_rounds(3)
    let_learn(manager, journal, learned, first.end)

    # By request the younger's executors do not fit beside the elder; they do by what all use.
    elder = Holder("elder", 1, work, checkout)
    older = submitter.submit(elder.application)
    elder.wait_started()
    younger = Rounds("younger", work, checkout)
    newer = submitter.submit(younger.application)
    younger.wait_rounds(10)
    running = _running(journal, newer)
    assert len(running) == 2, running
    wait_measured(journal, running, 1)
    made = younger.number("made")
    assert made == PARTS
    assert younger.holders() == set(running)

    free_mb = memory.available_bytes() // MEBIBYTE
    held_mb = free_mb - FLOOR_MB + SHORT_MB
    assert SHORT_MB < held_mb < EXECUTOR_MB - 1024, free_mb
    elder.hold(held_mb)
    leaves = wait_until(lambda: _leaves(journal), "an executor that leaves", RUN_SECONDS)
    assert leaves in running
    # It leaves although the shortage ends. The node takes another one as far as it fits by request.
    elder.end()
    wait_until(lambda: leaves in _finished(journal), f"the end of {leaves}", LEAVE_SECONDS)
    wait_until(lambda: len(_running(journal, newer)) == 2, "another executor", START_SECONDS)
    younger.wait_rounds(10)
    assert younger.number("made") == made, "cached blocks were lost"
    younger.end()
    ended = [wait_ended(manager, one, RUN_SECONDS) for one in (older, newer)]

    assert [one["finalStatus"] for one in ended] == ["SUCCEEDED"] * 2, ended
    assert [one["numNonAMContainerPreempted"] for one in ended] == [0, 0]
    assert manager.counters()["ExecutorsToldToLeave"] == 1
    assert manager.counters()["MemoryPreemptions"] == 0
    states = [(one["container"], one["state"]) for one in records(journal, "migration")]
    assert states == [(leaves, "leaves")]
    (shown,) = manager.elastane_rest("decisions?kind=migration")["decisions"]
    (journalled,) = records(journal, "migration")
    assert {**journalled, "number": shown["number"]} == shown
    assert (shown["container"], shown["application"]) == (leaves, newer)
    assert shown["node"] == cluster.node_managers[0].node_id
    assert shown["reason"], shown


def _leaves(journal: Path) -> str | None:
    leave = [one["container"] for one in records(journal, "migration") if one["state"] == "leaves"]
    return leave[0] if leave else None


def _running(journal: Path, application: str) -> list[str]:
    """Spark 3.5 releases a surplus container as soon as it gets it."""
    ended = _finished(journal)
    return [one for one in executors(journal, application) if one not in ended]


def _finished(journal: Path) -> list[str]:
    return [one["container"] for one in records(journal, "finished")]
