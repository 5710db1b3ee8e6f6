"""A node's agent reads a simulated /proc/meminfo."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from cluster.node_memory import NodeMemory, anonymous_bytes_of
from cluster.settings import MEBIBYTE
from cluster.waiting import wait_until

TOTAL_BYTES = 1024 * MEBIBYTE
HELD_MB = 64
SECONDS = 30.0
HOLD = f'held = b"x" * ({HELD_MB} << 20); print(flush=True); input()'


def available_mb(text: str) -> int:
    (line,) = (line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) // 1024


def test_what_marked_processes_hold_is_not_available(tmp_path: Path) -> None:
    mark = str(tmp_path / "local")
    memory = NodeMemory(tmp_path / "meminfo", partial(anonymous_bytes_of, mark), TOTAL_BYTES)
    memory.start()
    try:
        assert available_mb(memory.file.read_text()) == 1024
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD],
            env={"LOCAL_DIRS": mark},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            wait_until(
                lambda: available_mb(memory.file.read_text()) <= 1024 - HELD_MB,
                "less available",
                SECONDS,
            )
        finally:
            holder.communicate(b"\n")
        wait_until(
            lambda: available_mb(memory.file.read_text()) == 1024, "all available again", SECONDS
        )
    finally:
        memory.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace takes root")
def test_a_command_reads_the_nodes_memory_and_nobody_else_does(tmp_path: Path) -> None:
    memory = NodeMemory(
        tmp_path / "meminfo", partial(anonymous_bytes_of, str(tmp_path / "local")), TOTAL_BYTES
    )
    before = Path("/proc/self/mountinfo").read_text()
    memory.start()
    try:
        command = memory.command(["cat", "/proc/meminfo"])
        read = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    finally:
        memory.stop()
    assert available_mb(read.stdout) == 1024
    assert Path("/proc/self/mountinfo").read_text() == before
