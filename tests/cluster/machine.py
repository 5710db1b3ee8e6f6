"""How busy the whole machine is."""

from __future__ import annotations

import os
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

# Of /proc/stat's first line: user, nice, system, interrupts and what a hypervisor took; idle and
# waiting for disks left out. Guests are within user.
BUSY_COLUMNS = (1, 2, 3, 6, 7, 8)


def busy_core_seconds() -> float:
    """CPU time that was spent since boot, by anybody."""
    with Path("/proc/stat").open() as lines:
        columns = next(lines).split()
    return sum(int(columns[index]) for index in BUSY_COLUMNS) / TICKS_PER_SECOND
