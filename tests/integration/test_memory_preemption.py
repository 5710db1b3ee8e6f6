"""A node short of memory preempts the latest container, and Spark counts no failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.journal import lines, records
from cluster.paths import Checkout
from cluster.processes import age_seconds, start_ticks
from cluster.settings import MEBIBYTE
from cluster.spark import Submitter, wait_ended
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import (
    containers,
    executors,
    master,
    wait_all_reporting,
    wait_measured,
)
from .short_of_memory import (
    EXECUTOR_MB,
    RUN_SECONDS,
    Holder,
    let_learn,
    needs_own_memory,
    start_node,
)

pytestmark = needs_own_memory

# By request, the driver (1024 MB) and the executor of one application fill the node.
NODE_MB = 4096
FLOOR_MB = 1024
SHORT_MB = 256
# Longer than it takes until an executor that handles SIGPWR would be told to leave (6 s).
WAIT_BEFORE_KILL_MS = 12_000
# Younger executors are not told to leave.
OLD_ENOUGH_SECONDS = 30.0

PREEMPT_SECONDS = 60.0


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker, work: Path) -> Cluster:
    wait = "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill"
    manager = {wait: WAIT_BEFORE_KILL_MS}
    return start_node(start_cluster, work, NODE_MB, FLOOR_MB, resource_manager=manager)


def test_the_youngest_beyond_the_nodes_size_is_preempted_and_its_work_done_elsewhere(
    cluster: Cluster, submitter: Submitter, work: Path, checkout: Checkout
) -> None:
    manager, agent = cluster.resource_manager, cluster.agents[0]
    (node_manager,) = cluster.node_managers
    memory = agent.memory
    assert memory is not None
    journal = work / "journal.jsonl"
    wait_all_reporting(cluster)

    # One known run covers applications with as many executors; by request, only one fits at a time.
    for size in (1, 2):
        lesson = Holder(f"lesson-of-{size}", size, work, checkout)
        learned = submitter.submit(lesson.application)
        lesson.wait_started(tasks=1)
        let_learn(manager, journal, learned, lesson.end)

    # The elder fills the node by request; the younger fits since both use less than their requests.
    elder = Holder("elder", 1, work, checkout)
    older = submitter.submit(elder.application)
    elder.wait_started()
    younger = Holder("younger", 2, work, checkout)
    newer = submitter.submit(younger.application)
    younger.wait_started()
    running = executors(journal, newer)
    assert len(running) == 2, running
    everybody = [one for app in (older, newer) for one in containers(journal, app)]
    processes = {one: node_manager.first_process(one) for one in everybody}
    began = {one: start_ticks(pid) for one, pid in processes.items()}
    youngest = max(running, key=lambda one: (began[one], one))

    # Together they make the node short of memory, each below its own request.
    free_mb = memory.available_bytes() // MEBIBYTE
    each_mb = (free_mb - FLOOR_MB + SHORT_MB) // len(running)
    assert SHORT_MB < each_mb < EXECUTOR_MB - FLOOR_MB, free_mb
    wait_until(
        lambda: all(age_seconds(processes[one]) > OLD_ENOUGH_SECONDS for one in running),
        "executors that are old enough to leave",
        2 * OLD_ENOUGH_SECONDS,
    )
    # In two steps: the second makes the node short when the agent has measured the first.
    first_bytes = each_mb // 2 * MEBIBYTE
    younger.hold(each_mb // 2)
    wait_measured(journal, running, first_bytes)
    younger.hold(each_mb)
    wait_until(
        lambda: manager.application(newer)["numNonAMContainerPreempted"] > 0,
        f"a preempted container of {newer}",
        PREEMPT_SECONDS,
    )
    wait_until(
        lambda: memory.available_bytes() > FLOOR_MB * MEBIBYTE, "a node with room", PREEMPT_SECONDS
    )
    # By request the node is more than full. It takes nothing new now, or it would be short again.
    wait_until(
        lambda: any("was short of memory" in one["reason"] for one in records(journal, "bookable")),
        "a node that is not raised any more",
        PREEMPT_SECONDS,
    )
    wait_until(
        lambda: start_ticks(processes[youngest]) != began[youngest],
        f"the end of {youngest}",
        PREEMPT_SECONDS,
    )
    now = {one: start_ticks(pid) for one, pid in processes.items()}
    assert now == {**began, youngest: None}
    elder.end()
    younger.end()
    # The executor that is left does the work of both.
    younger.wait_started_again()
    assert executors(journal, newer) == running
    ended = [wait_ended(manager, one, RUN_SECONDS) for one in (older, newer)]

    assert [one["finalStatus"] for one in ended] == ["SUCCEEDED"] * 2, ended
    assert [one["numNonAMContainerPreempted"] for one in ended] == [0, 1]
    assert [one["numAMContainerPreempted"] for one in ended] == [0, 0]
    assert ended[1]["preemptedResourceMB"] == EXECUTOR_MB
    assert manager.counters()["MemoryPreemptions"] == 1
    log = (node_manager.container_logs / newer / master(journal, newer) / "stderr").read_text()
    assert f"{youngest} on host: localhost (state: COMPLETE, exit status: -102" in log
    assert f"{youngest} on host: localhost was preempted." in log
    assert "Not counting this failure towards the maximum number of failures" in log

    said = [(one["container"], one["outcome"]) for one in records(journal, "preemption")]
    assert said == [(youngest, "told"), (youngest, "preempted")]
    # Its job does not decommission executors, so its JVM would have ended by the signal.
    stayed = [(one["container"], one["state"]) for one in records(journal, "migration")]
    assert stayed == [(youngest, "not-handled")]
    audited = [entry for entry in lines(agent.audit) if entry["container"] in everybody]
    assert not [entry for entry in audited if entry["reason"] == "killed"]
    # Until a report shows the memory that the first one freed, the next one may be preempted, too.
    first, *others = (entry for entry in audited if entry["reason"] == "named")
    assert first["container"] == youngest
    assert {entry["container"] for entry in others} <= set(running)
    assert first["available_bytes"] + first["short_bytes"] == FLOOR_MB * MEBIBYTE
    assert first["resident_bytes"] >= first_bytes
