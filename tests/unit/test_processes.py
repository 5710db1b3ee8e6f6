"""Processes are stopped, and the processes that they leave behind are found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cluster.processes import Daemon, ProcessEnded, kill_strays, open_files, strays
from cluster.waiting import wait_until

# A child in its own session, as YARN starts containers.
LEAVE_A_CHILD = """
import subprocess, time
subprocess.Popen(["sleep", "300"], start_new_session=True)
time.sleep(300)
"""


def daemon(folder: Path, program: str) -> Daemon:
    environment = {**os.environ, "MARK": str(folder)}
    return Daemon("test", [sys.executable, "-c", program], environment, folder / "log")


def test_a_child_in_another_session_is_found_by_the_mark_in_its_environment(
    tmp_path: Path,
) -> None:
    parent = daemon(tmp_path, LEAVE_A_CHILD)
    parent.start()
    wait_until(lambda: len(strays(str(tmp_path))) == 2, "parent and child", 10)
    parent.kill()
    assert len(strays(str(tmp_path))) == 1

    assert kill_strays(str(tmp_path)) == 1

    assert strays(str(tmp_path)) == []


def test_a_longer_name_is_another_mark(tmp_path: Path) -> None:
    (folder := tmp_path / "test_page").mkdir()
    (longer := tmp_path / "test_page_learned").mkdir()
    others = daemon(longer, "import time; time.sleep(300)")
    others.start()
    wait_until(lambda: len(strays(str(longer))) == 1, "the process", 10)
    assert strays(str(folder)) == []
    assert kill_strays(str(longer)) == 1


def test_a_longer_path_is_another_mark(tmp_path: Path) -> None:
    (longer := tmp_path / "srv" / "data").mkdir(parents=True)
    others = daemon(longer, "import time; time.sleep(300)")
    others.start()
    wait_until(lambda: len(strays(str(longer))) == 1, "the process", 10)
    assert strays(f"/{longer.name}") == []
    assert kill_strays(str(longer)) == 1


def test_one_that_does_not_heed_sigterm_is_killed(tmp_path: Path) -> None:
    deaf = daemon(
        tmp_path,
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(300)",
    )
    deaf.start()
    wait_until(lambda: "deaf" in deaf.tail(), "the handler", 10)
    deaf.stop(seconds=0.2)
    assert not deaf.running()


def test_the_end_of_the_log_says_why_a_process_is_gone(tmp_path: Path) -> None:
    ended = daemon(tmp_path, "raise SystemExit('no such luck')")
    ended.start()
    wait_until(lambda: not ended.running(), "the end", 10)
    with pytest.raises(ProcessEnded, match="no such luck"):
        ended.check()


def test_what_a_process_holds_open_is_counted_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    with file.open("w"), file.with_name("runs.sqlite-wal").open("w"):
        assert open_files(os.getpid(), file) == 2
    assert open_files(os.getpid(), file) == 0
