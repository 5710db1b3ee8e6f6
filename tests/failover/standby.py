"""Whether a former active ResourceManager is a standby that can become active again."""

from __future__ import annotations

import subprocess

from cluster.java import java_program
from cluster.resource_manager import ResourceManager
from cluster.waiting import wait_until

STANDBY_SECONDS = 60.0
TRANSITION_SECONDS = 60.0
DUMP_SECONDS = 30.0
STANDS_BY, HUNG = "stands by", "hung"
# The dispatcher waits for the lock of the thread that waits for the dispatcher's end.
DEADLOCKED = (
    "ResourceManager.handleTransitionToStandByInNewThread",
    "ResourceManager.resetRMContext",
)


def wait_standby(manager: ResourceManager) -> bool:
    """Returns whether it hangs as Hadoop 3.4.3 may (YARN-11935): it says STANDBY, and never joins
    the election again. Only a restart helps."""
    wait_until(
        lambda: manager.high_availability_state() == "STANDBY",
        f"{manager.identifier} to be a standby",
        STANDBY_SECONDS,
    )
    how = wait_until(
        lambda: _how_it_ended(manager),
        f"{manager.identifier} to have stepped back",
        TRANSITION_SECONDS,
        every_seconds=1.0,
    )
    return how == HUNG


def _how_it_ended(manager: ResourceManager) -> str | None:
    """None while it steps back."""
    if _has_stepped_back(manager):
        return STANDS_BY
    return HUNG if _is_deadlocked(manager) else None


def _has_stepped_back(manager: ResourceManager) -> bool:
    log = manager.daemon.log.read_text(errors="replace")
    return log.rfind("Transitioned to standby state") > log.rfind("Transitioning to standby state")


def _is_deadlocked(manager: ResourceManager) -> bool:
    command = [java_program("jstack"), str(manager.daemon.pid)]
    dumped = subprocess.run(
        command, capture_output=True, text=True, timeout=DUMP_SECONDS, check=True
    )
    return all(method in dumped.stdout for method in DEADLOCKED)
