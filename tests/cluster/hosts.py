"""Hosts of one network, with names and addresses of their own, on this machine. Needs root."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.ports import LOOPBACK
from cluster.prerequisites import required_program
from cluster.running import Running

DOMAIN = "example.org"
NETWORK = "10.77.7"
# The bridge between the hosts, in namespaces of its own.
SWITCH = "switch"
UNSHARE = ("unshare", "--net", "--mount", "--uts")
STOP_SECONDS = 10.0


@dataclass(frozen=True)
class Host:
    """Where a process runs."""

    name: str
    configured: str
    """What configuration files call it."""

    enter: tuple[str, ...] = ()
    """What a command begins with to run there."""


LOCAL = Host("localhost", LOOPBACK)


class Hosts(Running):
    """A context manager. Each host is a network, mount and UTS namespace: its own address, its own
    /etc/hosts with the names of all, and its own host name. Nothing outside reaches them."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """`names` are without the domain. `folder` gets the hosts file."""
        self._file = folder / "hosts"
        self._addresses = {name: f"{NETWORK}.{number}" for number, name in enumerate(names, 1)}
        self._stack = ExitStack()
        self._hosts: dict[str, Host] = {}

    def start(self) -> None:
        lines = [f"{LOOPBACK} localhost"]
        lines += [f"{address} {_full(name)}" for name, address in self._addresses.items()]
        self._file.write_text("\n".join(lines) + "\n")
        self._make()

    def stop(self) -> None:
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
        """The pid of a process that holds new namespaces until this object or the tests end."""
        # The mount is seen in the new namespace alone. `cat` ends with its input.
        script = 'mount --bind "$1" /etc/hosts && hostname "$2" && echo made && exec cat'
        holder = subprocess.Popen(
            [*_unshare(), "sh", "-ec", script, "sh", str(self._file), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for the tests, which still stop what runs there.
            start_new_session=True,
        )
        self._stack.callback(_end, holder)
        assert holder.stdout is not None
        line = holder.stdout.readline()
        if line != b"made\n":
            raise OSError(f"no namespaces for {name}: {line.decode()}")
        return holder.pid


def why_no_hosts() -> str | None:
    """Why there cannot be any here: not as root, or in a container that may not mount."""
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else None


def _unshare() -> list[str]:
    return [str(required_program(UNSHARE[0])), *UNSHARE[1:]]


def _end(holder: subprocess.Popen[Any]) -> None:
    assert holder.stdin is not None and holder.stdout is not None
    holder.stdin.close()
    holder.stdout.close()
    try:
        holder.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        holder.kill()
        holder.wait()


def _full(name: str) -> str:
    return f"{name}.{DOMAIN}"


def _ip(pid: int, *arguments: str) -> None:
    command = [*_enter(pid), "--", str(required_program("ip")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _enter(pid: int) -> tuple[str, ...]:
    return (str(required_program("nsenter")), "--target", str(pid), "--net")
