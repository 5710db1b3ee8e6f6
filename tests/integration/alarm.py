"""A process whose end wakes the sleepers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 3600


class Alarm:
    """Sleepers sleep until this process ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(["sleep", str(LONGEST_SECONDS)])

    @property
    def pid(self) -> int:
        return self._process.pid

    def ring(self) -> None:
        self._process.kill()
        # Sleepers wait for the pid, which exists until the process is reaped.
        self._process.wait()


@contextmanager
def alarm() -> Iterator[Alarm]:
    """Rings when the block ends, if not before."""
    one = Alarm()
    try:
        yield one
    finally:
        one.ring()
