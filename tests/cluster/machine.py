"""The load of the whole machine."""

from __future__ import annotations

import os
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# In /proc/stat's first line: user (with guests), nice, system, interrupts and steal, without idle
# and iowait.
BUSY_COLUMNS = (1, 2, 3, 6, 7, 8)


def busy_core_seconds() -> float:
    """The CPU time of all processes since boot."""
    with Path("/proc/stat").open() as lines:
        columns = next(lines).split()
    return sum(int(columns[index]) for index in BUSY_COLUMNS) / TICKS_PER_SECOND
