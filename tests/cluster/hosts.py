"""Hosts of one network, with names and addresses of their own, on this machine. Needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from cluster.paths import MissingArtifact
from cluster.ports import LOOPBACK
from cluster.prerequisites import find_program

DOMAIN = "example.org"
NETWORK = "10.77.7"
# The bridge between the hosts, in namespaces of its own.
SWITCH = "switch"


@dataclass(frozen=True)
class Host:
    """Where a process runs."""

    name: str
    configured: str
    """What configuration files call it."""

    enter: tuple[str, ...] = ()
    """What a command begins with to run there."""


# Loopback has many names, of which the daemons would choose different ones.
LOCAL = Host("localhost", LOOPBACK)


class Hosts:
    """A context manager. Each host is a network, mount and UTS namespace: its own address, its own
    /etc/hosts with the names of all, and its own host name. This machine has no way to them."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """`names` are without the domain. `folder` gets the hosts file."""
        self._file = folder / "hosts"
        self._addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(names, 1)}
        self._stack = ExitStack()
        self._hosts: dict[str, Host] = {}

    def __enter__(self) -> Hosts:
        lines = [f"{LOOPBACK} localhost"]
        lines += [f"{address} {_full(name)}" for name, address in self._addresses.items()]
        self._file.write_text("\n".join(lines) + "\n")
        try:
            self._make()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def __getitem__(self, name: str) -> Host:
        return self._hosts[name]

    def _make(self) -> None:
        switch = self._namespaces(SWITCH)
        _ip(switch, "link", "add", SWITCH, "type", "bridge")
        _ip(switch, "link", "set", SWITCH, "up")
        for short, address in self._addresses.items():
            full = _full(short)
            pid = self._namespaces(full)
            link = ("link", "add", short, "type", "veth", "peer", "name", "eth0")
            _ip(switch, *link, "netns", str(pid))
            _ip(switch, "link", "set", short, "master", SWITCH, "up")
            _ip(pid, "address", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip(pid, "link", "set", device, "up")
            self._hosts[short] = Host(full, full, (*_enter(pid), "--mount", "--uts", "--"))

    def _namespaces(self, name: str) -> int:
        """The pid of a process that holds new namespaces until this process ends."""
        # The mount is seen in the new namespace alone. `cat` ends with its input.
        script = 'mount --bind "$1" /etc/hosts && hostname "$2" && echo made && exec cat'
        program = [str(_program("unshare")), "--net", "--mount", "--uts", "sh", "-ec", script]
        holder = subprocess.Popen(
            [*program, "sh", str(self._file), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the tests, which still stop what runs there.
            start_new_session=True,
        )
        self._stack.enter_context(holder)
        assert holder.stdout is not None
        if holder.stdout.readline() != b"made\n":
            raise OSError(f"no namespaces for {name}")
        return holder.pid


def can_make_hosts() -> bool:
    return os.geteuid() == 0


def _full(name: str) -> str:
    return f"{name}.{DOMAIN}"


def _ip(pid: int, *arguments: str) -> None:
    command = [*_enter(pid), "--", str(_program("ip")), *arguments]
    subprocess.run(command, check=True, capture_output=True)


def _enter(pid: int) -> tuple[str, ...]:
    return (str(_program("nsenter")), "--target", str(pid), "--net")


def _program(name: str) -> Path:
    found = find_program(name)
    if found is None:
        raise MissingArtifact(f"{name} is missing: `make check` names the package to install")
    return found
