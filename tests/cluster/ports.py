"""Free TCP ports on loopback."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from pathlib import Path

LOOPBACK = "127.0.0.1"
LOWEST = 10_000
EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
TRIES = 1_000

_given: set[int] = set()


class NoFreePort(Exception):
    """No port below the kernel's own range could be had."""


def free_ports(count: int) -> list[int]:
    """Ports that are free, and that nothing but a server with a fixed port will take.

    A port that the kernel gives out by itself may be the near end of somebody's connection by the
    time a server binds it, so these lie below the range that it gives out from. None is given
    twice.
    """
    highest = int(EPHEMERAL_RANGE.read_text().split()[0]) - 1
    if highest < LOWEST:
        raise NoFreePort(f"{EPHEMERAL_RANGE} starts at {highest + 1}: no port from {LOWEST} up")
    found: list[int] = []
    with ExitStack() as stack:
        for _ in range(TRIES):
            if len(found) == count:
                return found
            port = random.randint(LOWEST, highest)
            if port in _given:
                continue
            holder = stack.enter_context(socket.socket())
            try:
                holder.bind(("", port))
            except OSError:
                continue
            _given.add(port)
            found.append(port)
    raise NoFreePort(f"{len(found)} of {count} ports found free from {LOWEST} to {highest}")
