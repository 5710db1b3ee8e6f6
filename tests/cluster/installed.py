"""Copies of what was built, which a test replaces while daemons run, as an upgrade does."""

from __future__ import annotations

import shutil
from pathlib import Path

from cluster.paths import Checkout


class Installed(Checkout):
    """The scheduler's jar and library, and the agent."""

    @property
    def folder(self) -> Path:
        return self.target / "tests" / "installed"

    @property
    def scheduler_jar(self) -> Path:
        return self.folder / super().scheduler_jar.name

    @property
    def library(self) -> Path:
        return self.folder / super().library.name

    @property
    def agent(self) -> Path:
        return self.folder / super().agent.name

    def install(self) -> None:
        """Removes the former copies first: a file that is overwritten can break its reader."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for built in (super().scheduler_jar, super().library, super().agent):
            (self.folder / built.name).unlink(missing_ok=True)
            shutil.copy(built, self.folder)

    def runs_replaced_files(self, pid: int) -> bool:
        """Whether a process has a library or program mapped that has been replaced."""
        mapped = Path(f"/proc/{pid}/maps").read_text().splitlines()
        return any(str(self.folder) in one and one.endswith("(deleted)") for one in mapped)
