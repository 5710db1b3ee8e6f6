"""Simulates the memory of a machine of a node's size on which only the node's containers run.

All nodes share this machine's memory with other programs, so the machine's figures do not describe
a node. The node's agent reads another /proc/meminfo: the memory of the node's containers is used,
and the rest is available.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from cluster.processes import strays

REFRESH_SECONDS = 0.2
JOIN_SECONDS = 10.0


def anonymous_bytes(pids: Iterable[int]) -> int:
    """The anonymous memory of these processes; an ended process counts as 0."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            continue
        held = (line.split()[1] for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
        total += sum(map(int, held)) << 10
    return total


def anonymous_bytes_of(mark: str) -> int:
    """The anonymous memory of the processes whose environment names `mark`."""
    return anonymous_bytes(strays(mark))


class NodeMemory:
    """Updates a file like /proc/meminfo between start and stop."""

    def __init__(self, file: Path, used_bytes: Callable[[], int], total_bytes: int) -> None:
        self.file = file
        self._used_bytes = used_bytes
        self._total_bytes = total_bytes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"memory {file}", daemon=True)

    def start(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.touch()
        self._write()
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(JOIN_SECONDS)

    def available_bytes(self) -> int:
        return max(0, self._total_bytes - self._used_bytes())

    def command(self, command: list[str | Path]) -> list[str | Path]:
        """The command in its own mount namespace, in which the file is /proc/meminfo."""
        script = 'mount --bind "$0" /proc/meminfo && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, self.file, *command]

    def _follow(self) -> None:
        while not self._ended.wait(REFRESH_SECONDS):
            self._write()

    def _write(self) -> None:
        available = self.available_bytes()
        figures = {
            "MemTotal": self._total_bytes,
            "MemFree": available,
            "MemAvailable": available,
            "Buffers": 0,
            "Cached": 0,
            "AnonPages": self._total_bytes - available,
        }
        # Written in place, since the file is a mount's source, and always of the same length, so
        # that no reader finds half of it.
        lines = (f"{key + ':':<16}{value >> 10:>12} kB\n" for key, value in figures.items())
        with self.file.open("r+b", buffering=0) as output:
            output.write("".join(lines).encode())
