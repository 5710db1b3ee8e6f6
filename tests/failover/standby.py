"""Whether a former active ResourceManager is a standby that can become active again."""

from __future__ import annotations

import subprocess
import time

from cluster.java import jdk_program
from cluster.resource_manager import ResourceManager
from cluster.waiting import wait_until

STANDBY_SECONDS = 60.0
TRANSITION_SECONDS = 60.0
DUMP_SECONDS = 30.0
# Between the two thread dumps that show a hang.
BETWEEN_SECONDS = 5.0
STANDS_BY, HUNG = "stands by", "hung"
# The dispatcher waits for the lock of the thread that waits for the dispatcher's end.
WAITS_FOR_LOCK = "ResourceManager.handleTransitionToStandByInNewThread("
WAITS_FOR_END = "ResourceManager.resetRMContext("
BLOCKED = "java.lang.Thread.State: BLOCKED"
# Of the switches that lost a session, 6 of 11 hung. In `make test-cluster` both may.
MOST_HANGS_SHARE = 0.75
LEAST_ALLOWED_HANGS = 2


def wait_standby(manager: ResourceManager) -> bool:
    """Returns whether the ResourceManager hangs as one of Hadoop 3.4.3 may (YARN-11935): it says
    STANDBY, and never joins the election again. Only a restart helps."""
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


def allowed_hangs(lost_sessions: int) -> int:
    """More hangs than this fail the run: only who loses its session can hang."""
    return max(LEAST_ALLOWED_HANGS, int(MOST_HANGS_SHARE * lost_sessions))


def deadlocked_threads(dump: str) -> tuple[str, str] | None:
    """The names of the two threads of Hadoop's deadlock in the text of jstack; None
    if there is no such pair without a frame of Elastane."""
    threads = [
        thread
        for thread in dump.split("\n\n")
        if thread.lstrip().startswith('"') and "elastane" not in thread.lower()
    ]
    blocked = [one for one in threads if WAITS_FOR_LOCK in one and BLOCKED in one]
    waiting = [one for one in threads if WAITS_FOR_END in one]
    pairs = [(one, other) for one in blocked for other in waiting if one is not other]
    return (_name(pairs[0][0]), _name(pairs[0][1])) if pairs else None


def _name(thread: str) -> str:
    return thread.lstrip().split('"')[1]


def _how_it_ended(manager: ResourceManager) -> str | None:
    """None while it steps back."""
    if _has_stepped_back(manager):
        return STANDS_BY
    first = deadlocked_threads(_dump(manager))
    if first is None:
        return None
    time.sleep(BETWEEN_SECONDS)
    is_same = deadlocked_threads(_dump(manager)) == first
    return HUNG if is_same and not _has_stepped_back(manager) else None


def _has_stepped_back(manager: ResourceManager) -> bool:
    log = manager.daemon.log.read_text(errors="replace")
    return log.rfind("Transitioned to standby state") > log.rfind("Transitioning to standby state")


def _dump(manager: ResourceManager) -> str:
    """Empty if jstack fails, as it does if the JVM is too busy to answer."""
    command = [str(jdk_program("jstack")), str(manager.daemon.pid)]
    try:
        dumped = subprocess.run(
            command, capture_output=True, text=True, timeout=DUMP_SECONDS, check=True
        )
    except subprocess.SubprocessError:
        return ""
    return dumped.stdout
