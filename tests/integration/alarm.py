"""A process whose end wakes the sleepers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.processes import ProcessEnded

LONGEST_SECONDS = 3600.0


class Alarm:
    """Sleepers sleep until this process ends."""

    def __init__(self, seconds: float = LONGEST_SECONDS) -> None:
        """Rings by itself after some seconds, if it is left behind."""
        self._process = subprocess.Popen(["sleep", str(seconds)])

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raises ProcessEnded if the alarm has rung."""
        if self._process.poll() is not None:
            raise ProcessEnded("the alarm of the sleepers rang too early")

    def ring(self) -> None:
        self._process.kill()
        # Sleepers wait for the pid, which exists until the process is reaped.
        self._process.wait()


@contextmanager
def alarm(seconds: float = LONGEST_SECONDS) -> Iterator[Alarm]:
    """Rings when the block ends, if not before."""
    one = Alarm(seconds)
    try:
        yield one
    finally:
        one.ring()
