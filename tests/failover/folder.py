"""The folder of a run, which is emptied before the next."""

from __future__ import annotations

import shutil
from pathlib import Path

from cluster.processes import kill_strays
from failover.views import Lost

MARK = "failover-suite"
CLUSTER, ZOOKEEPER = "cluster", "zookeeper"


def refuse_foreign(folder: Path) -> None:
    """Raises Lost unless the folder is missing, empty or of an earlier run."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise Lost(f"{folder} is not a folder: name another one")
    if any(folder.iterdir()) and not (folder / MARK).is_file():
        raise Lost(
            f"{folder} is not empty, and has no file {MARK} of an earlier run: name another folder,"
            " or remove it"
        )


def renew(folder: Path) -> None:
    """Ends the processes of an earlier run, and removes all files but the mark."""
    had_run = (folder / MARK).is_file()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    for part in (CLUSTER, ZOOKEEPER) if had_run else ():
        # The command line of this program and of make name the folder itself.
        kill_strays(str(folder / part))
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != MARK:
            entry.unlink()
