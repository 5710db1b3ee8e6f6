"""The cluster of the failover suite, and the applications that must survive every switch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell
from cluster.link import Link
from cluster.paths import Checkout
from cluster.settings import ClusterSettings, ElastaneSettings, NodeShape
from cluster.spark import wait_ended
from cluster.waiting import wait_until
from failover.folder import CLUSTER
from failover.load import CONTAINERS, STEADY, VISITOR, steady, visit
from failover.views import Lost
from integration.alarm import Alarm, alarm
from integration.expectations import (
    wait_all_raised,
    wait_all_reporting,
    wait_asleep,
    wait_containers,
    wait_learned,
    wait_sampled,
)

NODES = 3
SHAPE = NodeShape(memory_mb=2048, vcores=16, cpu_cores=2.0, disk_bytes_per_s=1_000_000_000)
APPLICATIONS = 2
IDS = ("rm1", "rm2")
# Shorter than in production, so that a run waits less.
HEARTBEAT_MS = 250
REPORT_MS = 1_000
# A node is lost after the same 10 s of silence as in production.
REPORTS_MISSED = 10
# The shortest allowed interval.
SHARED_EVERY_MS = 10_000
START_SECONDS = 90.0
END_SECONDS = 60.0
DAY_SECONDS = 86_400.0
SHARE_SECONDS = 60.0


def settings(folder: Path, links: Mapping[str, Link]) -> ClusterSettings:
    work, shared = folder / CLUSTER, _shared(folder)
    # Elastane does not read a directory that others may write.
    shared.mkdir(mode=0o700, parents=True)
    return ClusterSettings(
        work=work,
        nodes=NODES,
        shape=SHAPE,
        resource_managers=IDS,
        zookeeper={one: link.address for one, link in links.items()},
        recovery=True,
        elastane=ElastaneSettings(
            mode="enforce",
            depository=work / "depository.sqlite",
            journal=work / "journal.jsonl",
            extra={
                # One run of an application is enough to plan the next.
                "profile.least-confidence": 0,
                "report.interval-ms": REPORT_MS,
                "report.missed": REPORTS_MISSED,
                "depository.shared": f"file://{shared}",
                "depository.shared-every-ms": SHARED_EVERY_MS,
            },
        ),
        resource_manager={
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": HEARTBEAT_MS,
        },
    )


def start_steady(
    cluster: Cluster, folder: Path, checkout: Checkout, stack: ExitStack
) -> tuple[list[str], Alarm]:
    """Returns the applications that must survive, and what wakes them. Every node is raised, since
    an earlier run is known and shared."""
    wait_all_reporting(cluster)
    shell = DistributedShell(cluster.resource_manager, cluster.settings.work, checkout)
    _teach(cluster, folder, shell)
    end = stack.enter_context(alarm(DAY_SECONDS))
    submitted = [shell.submit(steady(end.pid)) for _ in range(APPLICATIONS)]
    for application in submitted:
        wait_containers(cluster, application, CONTAINERS + 1, START_SECONDS)
    wait_asleep(cluster, APPLICATIONS * CONTAINERS, START_SECONDS)
    wait_all_raised(cluster)
    return submitted, end


def _teach(cluster: Cluster, folder: Path, shell: DistributedShell) -> None:
    """Runs each kind of application once, and waits until its profile is shared."""
    manager = cluster.resource_manager
    with alarm() as end:
        lesson = shell.submit(steady(end.pid))
        wait_sampled(manager.journal, lesson)
    wait_ended(manager, lesson, END_SECONDS)
    failure = visit(shell)
    if failure is not None:
        raise Lost(f"the first short application: {failure}")
    for name in (STEADY, VISITOR):
        wait_learned(manager.journal, name)
    learned_at = time.time()
    copy = _shared(folder) / f"{manager.identifier}.sqlite"
    wait_until(
        lambda: copy.is_file() and copy.stat().st_mtime > learned_at,
        f"a new copy {copy}",
        SHARE_SECONDS,
    )


def _shared(folder: Path) -> Path:
    return folder / "shared"
