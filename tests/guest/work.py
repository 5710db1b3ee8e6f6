"""What runs in a guest, how it boots, and how its end is told."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

EXIT_LINE = "GUEST-EXIT-CODE="
OUT_OF_TIME = 124
BY_A_SIGNAL = 128
SCRATCH = "/mnt/scratch"
ALIVE_LINE = "GUEST-IS-ALIVE"
# For the first script of a guest. So a guest whose command is silent is told from one that hangs.
TELL_THAT_ALIVE = f'(while sleep 30; do echo "{ALIVE_LINE}"; done) &'


@dataclass(frozen=True)
class Work:
    """A command to run in the guest, and its time limit."""

    command: list[str]
    folder: Path
    environment: dict[str, str]
    seconds: int

    @property
    def script(self) -> str:
        """The command, in its folder and environment, as one line for a shell."""
        exports = [f"export {key}={shlex.quote(value)}" for key, value in self.environment.items()]
        begin = f"cd {shlex.quote(str(self.folder))}"
        return " && ".join([begin, *exports, shlex.join(self.command)])


@dataclass(frozen=True)
class Boot:
    """What the guest's first process is."""

    kernel_options: str
    start: Callable[[Work], str]
    """The first process's script from when the guest's files are mounted."""
    grace_seconds: int
    """How much longer than its command the guest may take."""
    runs_units: bool = False
    """Whether systemd runs."""
