"""What runs on the cluster while its ResourceManagers change roles."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType

from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager

CONTAINERS = 3
STEADY = "steady"
VISITOR = "visitor"
VISIT_SECONDS = 3
VISITORS_AT_A_TIME = 2
# The client of a visitor waits for two ResourceManagers at worst.
VISITOR_END_SECONDS = 240.0
POLL_SECONDS = 0.5


def steady(until_pid: int) -> Sleepers:
    """An application that must survive every switch."""
    return Sleepers(STEADY, containers=CONTAINERS, memory_mb=512, until_pid=until_pid)


def visitor() -> Sleepers:
    """A short application."""
    return Sleepers(VISITOR, containers=1, memory_mb=256, until_pid=None, for_seconds=VISIT_SECONDS)


class Visitors:
    """A context manager: short applications come and go, some at a time, each submitted by a client
    that knows both ResourceManagers."""

    def __init__(self, manager: ResourceManager, work: Path, checkout: Checkout) -> None:
        names = [f"{VISITOR}-{number}" for number in range(VISITORS_AT_A_TIME)]
        shells = [DistributedShell(manager, work, checkout, name=name) for name in names]
        self._stop = threading.Event()
        self._is_abandoned = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(shell,), daemon=True) for shell in shells
        ]
        self._lock = threading.Lock()
        self._successes_began: list[float] = []
        self.failures: list[str] = []
        """Why some did not succeed."""

    def __enter__(self) -> Visitors:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def ended(self) -> int:
        """How many succeeded."""
        with self._lock:
            return len(self._successes_began)

    def has_succeeded_since(self, moment: float) -> bool:
        """Whether one succeeded whose client began after this moment of the monotonic clock."""
        with self._lock:
            return any(began > moment for began in self._successes_began)

    def stop(self) -> None:
        """Begins no further application, and waits until those that run have ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def abandon(self) -> None:
        """Ends the clients of the applications that run."""
        self._is_abandoned.set()

    def _run(self, shell: DistributedShell) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            failure = visit(shell, self._is_abandoned)
            with self._lock:
                if failure is None:
                    self._successes_began.append(began)
                else:
                    self.failures.append(failure)


def visit(shell: DistributedShell, is_abandoned: threading.Event | None = None) -> str | None:
    """Runs a short application to its end. Returns why it did not succeed."""
    client = shell.begin(visitor())
    deadline = time.monotonic() + VISITOR_END_SECONDS
    try:
        while client.running():
            if is_abandoned is not None and is_abandoned.is_set():
                return "given up"
            if time.monotonic() >= deadline:
                return f"no end within {VISITOR_END_SECONDS:g} s:\n{client.tail()}"
            time.sleep(POLL_SECONDS)
        code = client.exit_code()
        return f"exit code {code}:\n{client.tail()}" if code else None
    finally:
        client.kill()
