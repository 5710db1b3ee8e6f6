"""The process whose end wakes sleepers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 3600


class Alarm:
    """Sleepers sleep until it rings."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(["sleep", str(LONGEST_SECONDS)])

    @property
    def pid(self) -> int:
        return self._process.pid

    def ring(self) -> None:
        self._process.kill()
        # Until it is reaped its pid is there for whoever waits for it.
        self._process.wait()


@contextmanager
def alarm() -> Iterator[Alarm]:
    """Rings at the latest when the block is left."""
    one = Alarm()
    try:
        yield one
    finally:
        one.ring()
