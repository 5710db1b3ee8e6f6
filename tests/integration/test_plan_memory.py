"""With plan.memory, an executor's limit follows its demand, and its heap follows the limit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster
from cluster.java import java_program
from cluster.paths import Checkout
from cluster.processes import command_name, strays
from cluster.settings import MEBIBYTE, NodeShape
from cluster.spark import END_STATES, SparkApplication, Submitter, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker, elastane
from .expectations import executors, measured, wait_all_reporting, wait_learned

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="without root agents limit nothing"),
    pytest.mark.skipif(
        ":memory:" not in Path("/proc/self/cgroup").read_text(),
        reason="reads the files of cgroup version 1",
    ),
]

SHAPE = NodeShape(memory_mb=4096, vcores=16, cpu_cores=8.0, disk_bytes_per_s=1_000_000_000)
HEAP_MB = 2176
REQUEST_BYTES = (HEAP_MB + 384) * MEBIBYTE
HELD_MB = 480
# Reports with a sample, one every 3 s.
REPORTS_FULL = 2
REPORTS_EMPTY = 12

# The heap flags as the agent sets them, and Java's defaults.
TIGHT = {"MinHeapFreeRatio": 10, "MaxHeapFreeRatio": 20}
LOOSE = {"MinHeapFreeRatio": 40, "MaxHeapFreeRatio": 70, "G1PeriodicGCInterval": 0}

RUN_SECONDS = 180.0
STEP_SECONDS = 120.0

COLLECTOR = "-XX:+UseG1GC -XX:TieredStopAtLevel=1 -Xshare:auto"
# Lets the heap of the learned run shrink by itself.
GIVES_BACK = "-XX:G1PeriodicGCInterval=1000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20"


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    return start_cluster(
        nodes=1,
        shape=SHAPE,
        elastane=elastane(work, **{"plan.memory": "on", "profile.margin": 0.1}),
    )


class Run:
    """A run of the application, which fills and empties its executor's heap on command."""

    def __init__(
        self,
        name: str,
        options: str,
        cluster: Cluster,
        submitter: Submitter,
        work: Path,
        checkout: Checkout,
    ) -> None:
        self._journal = work / "journal.jsonl"
        # A key keeps only a path's last component, so all are runs of one application.
        self._folder = work / name / "steps"
        self._folder.mkdir(parents=True)
        self._steps = 0
        spark = SparkApplication(
            "heap-holder",
            checkout.tests / "jobs" / "hold_heap.py",
            (str(self._folder), str(HELD_MB)),
            executors=1,
            executor_memory_mb=HEAP_MB,
            properties={
                "spark.executor.extraJavaOptions": options,
                "spark.rdd.compress": "false",
                "spark.task.maxFailures": "1",
                "spark.executor.maxNumFailures": "1",
            },
        )
        self._manager = cluster.resource_manager
        self.application = submitter.submit(spark)

    def step(self, what: str) -> None:
        self._steps += 1
        whole = self._folder / "next"
        whole.write_text(what)
        whole.rename(self._folder / str(self._steps))

    @property
    def executor(self) -> str:
        def placed() -> list[str]:
            return executors(self._journal, self.application)

        return wait_until(placed, f"an executor of {self.application}", STEP_SECONDS)[0]

    def reports(self) -> list[dict[str, Any]]:
        return measured(self._journal, self.executor)

    def wait_reports(
        self, count: int, condition: Callable[[dict[str, Any]], bool], what: str
    ) -> dict[str, Any]:
        """Waits for this many consecutive reports that match, and returns the last."""

        def all_hold() -> dict[str, Any] | None:
            record = self._manager.application(self.application)
            assert record["state"] not in END_STATES, record["diagnostics"]
            last = self.reports()[-count:]
            return last[-1] if len(last) == count and all(map(condition, last)) else None

        return wait_until(all_hold, f"{count} reports of {self.executor}: {what}", STEP_SECONDS)


def is_full(report: dict[str, Any]) -> bool:
    return report["heap_used_bytes"] >= HELD_MB * MEBIBYTE


def is_empty(report: dict[str, Any]) -> bool:
    return report["heap_committed_bytes"] < HELD_MB * MEBIBYTE


@pytest.fixture(scope="module")
def lesson(cluster: Cluster, submitter: Submitter, work: Path, checkout: Checkout) -> Run:
    """A run that is full, then empty."""
    wait_all_reporting(cluster)
    run = Run("lesson", f"{COLLECTOR} {GIVES_BACK}", cluster, submitter, work, checkout)
    run.step("fill")
    run.wait_reports(REPORTS_FULL, is_full, "full")
    run.step("release")
    run.wait_reports(REPORTS_EMPTY, is_empty, "empty")
    run.step("end")
    ended = wait_ended(cluster.resource_manager, run.application, RUN_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED", ended["diagnostics"]
    wait_learned(work / "journal.jsonl", "heap-holder")
    return run


def test_memory_without_a_profile_is_not_limited(cluster: Cluster, lesson: Run) -> None:
    assert {report["limit_memory_bytes"] for report in lesson.reports()} == {None}
    assert not sent(cluster, lesson)


def test_limit_and_heap_follow_the_profile_down_and_up(
    cluster: Cluster, lesson: Run, submitter: Submitter, work: Path, checkout: Checkout
) -> None:
    run = Run("run", COLLECTOR, cluster, submitter, work, checkout)
    run.step("fill")
    full = run.wait_reports(REPORTS_FULL, lambda one: is_full(one) and is_limited(one), "full")
    assert full["used"]["memory_bytes"] < full["limit_memory_bytes"] < REQUEST_BYTES

    # An idle JVM collects garbage only on request.
    run.step("release")
    # The limit comes down in steps, below what was used.
    lowest = min(full["used"]["memory_bytes"], REQUEST_BYTES / 2)
    run.wait_reports(1, lambda one: is_empty(one) and one["limit_memory_bytes"] < lowest, "small")
    assert TIGHT.items() <= heap_flags(run.executor).items()

    # Use above the demand: the limit is raised at once.
    run.step("fill")
    again = run.wait_reports(1, is_full, "full again")
    assert again["limit_memory_bytes"] > again["used"]["memory_bytes"]

    # Near its predicted end, the limit is the request.
    run.wait_reports(1, lambda one: one["limit_memory_bytes"] == REQUEST_BYTES, "all it asked for")
    wait_until(lambda: heap_flags(run.executor) == LOOSE, "a heap that may grow", STEP_SECONDS)
    asked = sent(cluster, run)
    assert asked[0] == ["MinHeapFreeRatio=10", "MaxHeapFreeRatio=20", "G1PeriodicGCInterval=3000"]
    assert asked[-1] == ["MaxHeapFreeRatio=70", "MinHeapFreeRatio=40", "G1PeriodicGCInterval=0"]

    group, _ = memory_limits(cluster, run)[0]
    assert "oom_kill 0" in (group / "memory.oom_control").read_text().splitlines()
    assert executors(work / "journal.jsonl", run.application) == [run.executor]
    cluster.agents[0].daemon.stop()
    assert memory_limits(cluster, run)[-1] == (group, "-1")
    assert not group.exists()
    assert executor_jvm(run.executor)
    run.step("end")
    ended = wait_ended(cluster.resource_manager, run.application, RUN_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED", ended["diagnostics"]
    assert executors(work / "journal.jsonl", run.application) == [run.executor]


def is_limited(report: dict[str, Any]) -> bool:
    return report["limit_memory_bytes"] is not None


def sent(cluster: Cluster, run: Run) -> list[list[str]]:
    """The commands sent to the executor's JVM."""
    return [one["sent"] for one in cluster.agents[0].audited(run.executor) if "sent" in one]


def executor_jvm(container: str) -> int:
    return next(pid for pid in strays(container) if command_name(pid) == "java")


def heap_flags(container: str) -> dict[str, int]:
    """The flags that the agent changes, read from the executor's JVM."""
    command = [java_program("jcmd"), str(executor_jvm(container)), "VM.flags", "-all"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    flags = (line.split() for line in said.splitlines())
    return {words[1]: int(words[3]) for words in flags if len(words) > 3 and words[1] in LOOSE}


def memory_limits(cluster: Cluster, run: Run) -> list[tuple[Path, str]]:
    """The executor's memory limits with their groups, in order."""
    audited = cluster.agents[0].audited(run.executor)
    written = (change for entry in audited for change in entry.get("written", []))
    return [(Path(group), text) for group, file, text in written if file == "memory.limit_in_bytes"]
