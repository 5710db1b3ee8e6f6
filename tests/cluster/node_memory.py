"""A node's memory as if its containers were alone on a machine of the node's size.

All nodes share the memory of this machine, with whatever else runs here: its own figures say
nothing of a node. The node's agent reads a /proc/meminfo in which what the node's containers hold
is taken, and the rest is available.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from cluster.processes import strays

REFRESH_SECONDS = 0.2
JOIN_SECONDS = 10.0


def anonymous_bytes(pids: Iterable[int]) -> int:
    """What no file stands behind, of all these processes; one that is gone holds nothing."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            continue
        held = (line.split()[1] for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
        total += sum(map(int, held)) << 10
    return total


class NodeMemory:
    """Keeps a file like /proc/meminfo up to date between start and stop."""

    def __init__(self, file: Path, mark: str, total_bytes: int) -> None:
        """`mark` is named in the environment of every process of the node's containers."""
        self.file = file
        self._mark = mark
        self._total_bytes = total_bytes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"memory {mark}", daemon=True)

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
        return max(0, self._total_bytes - anonymous_bytes(strays(self._mark)))

    def command(self, command: list[str | Path]) -> list[str | Path]:
        """The same command in a mount namespace of its own, where the file is /proc/meminfo."""
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
        # Of the same length each time and written in place: the file is mounted elsewhere, and who
        # reads it must not find half of it.
        lines = (f"{key + ':':<16}{value >> 10:>12} kB\n" for key, value in figures.items())
        with self.file.open("r+b", buffering=0) as output:
            output.write("".join(lines).encode())
