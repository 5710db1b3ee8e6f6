"""What no switch may cost."""

from __future__ import annotations

import re

from cluster.cluster import Cluster
from cluster.resource_manager import ResourceManager
from failover.load import CONTAINERS, Visitors
from failover.views import Lost, Running, known_to_yarn, running

MUST_BE_ZERO = (
    "CoreFailures",
    "PartFailures",
    "PartsOutOfService",
    "RefusedCalls",
    "LearningFailures",
    "PlanningFailures",
    "DepositoryFailures",
    "JournalFailures",
    "JournalDropped",
    "SamplesLost",
    "CheckpointsFailed",
    "RunSavesFailed",
    "SettingsRefused",
    "SharingFailures",
    "MemoryPreemptions",
    "BookingsMended",
)
"""Counters of docs/monitoring.md. Nodes are so few that the last one compares each of them every
few seconds."""

# A frame of Elastane in Java, or a panic of Rust.
THROWN_THROUGH_ELASTANE = re.compile(r"^\tat .*elastane|panicked at", re.IGNORECASE | re.MULTILINE)
# What jstack leaves in the log of a JVM that answers too late for it.
THREAD_DUMP = re.compile(r"^Full thread dump.*?^JNI global refs[^\n]*", re.DOTALL | re.MULTILINE)
# A ResourceManager that steps down interrupts the copying of its depository, as it does its own
# threads, and Hadoop's Shell, which sets the copy's mode, logs where.
FRAMES = r"(?:\tat [^\n]*\n)*"
STEPPING_DOWN = re.compile(
    r"^[^\n]* WARN Shell: Interrupted while [^\n]*\njava\.lang\.InterruptedException\n"
    rf"{FRAMES}\tat org\.elastane\.depository\.SharedDepository[^\n]*\n{FRAMES}",
    re.MULTILINE,
)
# Of the log before such a line.
SHOWN_CHARACTERS = 600


class Checks:
    def __init__(self, cluster: Cluster, steady: list[str], visitors: Visitors) -> None:
        """`steady` run now, and must go on."""
        self._cluster = cluster
        self._steady = steady
        self._visitors = visitors
        self._before = self._running()
        if len(self._before) != len(steady) * (CONTAINERS + 1):
            raise Lost(f"before the first switch there are only {sorted(self._before)}")
        self.counters = dict.fromkeys(MUST_BE_ZERO, 0)
        """The last ones that were read."""

    @property
    def containers(self) -> int:
        """How many must survive."""
        return len(self._before)

    def survivors(self) -> int:
        """The number of containers that run as before: by their ids, nodes and processes, and by
        YARN."""
        found = self._running()
        if found != self._before:
            raise Lost(f"containers were {self._before}, and are {found}")
        for application in self._steady:
            known = known_to_yarn(self._cluster.resource_manager, application)
            on_nodes = {one for one in found if _is_of(one, application)}
            if known != on_nodes:
                raise Lost(f"{application}: YARN knows {sorted(known)}, nodes {sorted(on_nodes)}")
        return len(found)

    def applications(self) -> None:
        if self._visitors.failures:
            raise Lost(f"a short application: {self._visitors.failures[0]}")
        for one in self._cluster.resource_manager.applications():
            if one["finalStatus"] in ("FAILED", "KILLED") or one["preemptedResourceMB"]:
                raise Lost(f"{one['id']} ({one['name']}): {one['diagnostics']}")

    def count(self, active: ResourceManager) -> None:
        """Since it became active."""
        counters = active.counters()
        self.counters = {name: counters[name] for name in MUST_BE_ZERO}
        wrong = {name: count for name, count in self.counters.items() if count}
        if wrong:
            raise Lost(f"{active.identifier} counted {wrong}")

    def logs(self) -> None:
        for manager in self._cluster.resource_managers:
            log = THREAD_DUMP.sub("", manager.daemon.log.read_text(errors="replace"))
            log = STEPPING_DOWN.sub("", log)
            thrown = THROWN_THROUGH_ELASTANE.search(log)
            if thrown:
                begin = max(0, thrown.start() - SHOWN_CHARACTERS)
                raise Lost(f"{manager.daemon.log}: {log[begin : thrown.end()]}")

    def _running(self) -> dict[str, Running]:
        return running(self._cluster, self._steady)


def _is_of(container: str, application: str) -> bool:
    return application.removeprefix("application_") in container
