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

_claims: list[socket.socket] = []


class NoFreePort(Exception):
    """No port below the kernel's ephemeral range is free."""


def free_ports(count: int) -> list[int]:
    """Free ports that only a server with a fixed port can take.

    They lie below the kernel's ephemeral range: an ephemeral port could become the local end of
    another connection before the server binds it. None is returned twice.
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
            claim = socket.socket(socket.AF_UNIX)
            holder = stack.enter_context(socket.socket())
            try:
                claim.bind(f"\0elastane-port-{port}")
                holder.bind(("", port))
            except OSError:
                claim.close()
                continue
            _claims.append(claim)
            found.append(port)
    raise NoFreePort(f"{len(found)} of {count} ports found free from {LOWEST} to {highest}")
