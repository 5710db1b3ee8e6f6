"""Starts processes, and finds the processes that they leave behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .machine import TICKS_PER_SECOND

STOP_SECONDS = 15.0


class ProcessEnded(Exception):
    """A process ended unexpectedly."""


class Daemon:
    """One process in its own session, with its output in a file."""

    def __init__(
        self, name: str, command: Sequence[str | Path], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self.log = log
        self._command = [str(word) for word in command]
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ProcessEnded(f"{self.name} was not started")
        return self._process.pid

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def check(self) -> None:
        """Raises ProcessEnded with the end of the log if the process has ended."""
        if not self.running():
            raise ProcessEnded(
                f"{self.name} ended with {self.exit_code()}; {self.log}:\n{self.tail()}"
            )

    def tail(self, lines: int = 25) -> str:
        if not self.log.is_file():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def kill(self) -> None:
        """kill -9, and waits for the end."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Sends SIGTERM, and SIGKILL if the process does not end in time."""
        self.ask_to_stop()
        if self._process is None:
            return
        try:
            self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()


def strays(mark: str) -> list[int]:
    """The processes whose command line or environment names `mark`, without this one.

    A container has its own session, so after its NodeManager has ended only its environment ties it
    to the cluster: everything that YARN starts names the cluster's work directory.
    """
    # Another cluster's directory may begin with this one's name, or end with this one's path.
    before = rb"(?<![\w.-])" if mark.startswith("/") else b""
    wanted = re.compile(before + re.escape(os.fsencode(mark)) + rb"(?![\w.-])")
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            names_mark = any(
                wanted.search((entry / part).read_bytes()) for part in ("cmdline", "environ")
            )
        except OSError:
            continue  # ended, or owned by another user
        if names_mark:
            found.append(int(entry.name))
    return found


def command_name(pid: int) -> str:
    """The kernel's short name of a process; empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def thread_names(pid: int, prefix: str) -> list[str]:
    """The names of a process's matching threads, sorted; the kernel keeps 15 characters of each."""
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended
            names.append((task / "comm").read_text().strip())
    return sorted(name for name in names if name.startswith(prefix))


def open_files(pid: int, file: Path) -> int:
    """The number of a process's open descriptors of files whose paths begin with a prefix."""
    held = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            held += str(link.readlink()).startswith(str(file))
    return held


def start_ticks(pid: int) -> int | None:
    """A process's start in clock ticks since boot; None if the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[19])


def age_seconds(pid: int) -> float:
    """How long a process runs."""
    began = start_ticks(pid)
    if began is None:
        raise ProcessLookupError(f"process {pid} has ended")
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return uptime - began / TICKS_PER_SECOND


def kill_all(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def kill_strays(mark: str, seconds: float = STOP_SECONDS) -> int:
    """Kills strays until none is left: a dying process may have forked. Returns their number."""
    deadline = time.monotonic() + seconds
    killed: set[int] = set()
    while (
        found := [pid for pid in strays(mark) if not _zombie(pid)]
    ) and time.monotonic() < deadline:
        killed.update(found)
        kill_all(found)
        time.sleep(0.1)
    return len(killed)


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
