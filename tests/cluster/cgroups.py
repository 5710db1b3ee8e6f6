"""Limits one node to a share of the machine's CPU and disk, and of memory if asked to, with cgroup
v1."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.processes import kill_all

CONTROLLERS = ("cpu", "cpuacct", "blkio")
MEMORY = "memory"
PERIOD_MICROSECONDS = 100_000
WEIGHT = 20 * 1024
REMOVE_SECONDS = 10.0


class CannotHold(Exception):
    """Nodes cannot be limited to shares on this machine; the message says why."""


def hierarchies() -> dict[str, Path]:
    """The mount of each required controller."""
    found: dict[str, Path] = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind != "cgroup":
            continue
        for controller in set(options.split(",")) & {*CONTROLLERS, MEMORY}:
            found.setdefault(controller, Path(before.split()[4]))
    return found


def all_mounts() -> set[Path]:
    """Every cgroup mount of either version, also unused ones: an agent that was
    killed may have made groups in all of them."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {
        Path(line.split()[4])
        for line in lines
        if line.partition(" - ")[2].startswith(("cgroup ", "cgroup2 "))
    }


def check_can_hold() -> None:
    """Raises CannotHold with one line if nodes cannot be limited to shares here."""
    if os.geteuid() != 0:
        raise CannotHold("nodes are not held to a share of the machine: that needs root")
    missing = sorted(set(CONTROLLERS) - set(hierarchies()))
    if missing:
        raise CannotHold(
            "nodes are not held to a share of the machine: "
            f"no cgroup v1 hierarchy for {', '.join(missing)}"
        )


@dataclass(frozen=True)
class NodeShare:
    """One node's group in each hierarchy."""

    name: str
    """Relative to each hierarchy's mount, for instance elastane-demo-4711/node-0."""

    cpu_cores: float
    disk_read_bytes_per_s: int
    disk_write_bytes_per_s: int | None = None
    """None: writes are not limited. Version 1 limits only those that pass the page cache."""

    memory_bytes: int | None = None
    """What the node's processes take together at most; the kernel kills one at the limit. None: no
    group of memory is made."""

    def create(self, disk: Path) -> None:
        """Makes the groups and sets the limits; `disk` is a folder on the throttled device."""
        for folder in self.folders():
            folder.mkdir(parents=True)
        cpu = self.folder("cpu")
        _write(cpu / "cpu.cfs_period_us", str(PERIOD_MICROSECONDS))
        _write(cpu / "cpu.cfs_quota_us", str(round(self.cpu_cores * PERIOD_MICROSECONDS)))
        # With the kernel's default of 1024, one process outside would weigh as much as this group,
        # and other work on the machine would take the nodes' share.
        _write(cpu.parent / "cpu.shares", str(WEIGHT))
        device = disk.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        blkio = self.folder("blkio")
        _write(blkio / "blkio.throttle.read_bps_device", f"{number} {self.disk_read_bytes_per_s}")
        if self.disk_write_bytes_per_s is not None:
            written = f"{number} {self.disk_write_bytes_per_s}"
            _write(blkio / "blkio.throttle.write_bps_device", written)
        if self.memory_bytes is not None:
            memory = self.folder(MEMORY)
            # Containers' own groups below count as well.
            _write(memory / "memory.use_hierarchy", "1")
            _write(memory / "memory.limit_in_bytes", str(self.memory_bytes))

    def folder(self, controller: str) -> Path:
        return hierarchies()[controller] / self.name

    def memory_used_bytes(self) -> int:
        """Of all processes in the group of memory, page cache included."""
        return int((self.folder(MEMORY) / "memory.usage_in_bytes").read_text())

    def out_of_memory_kills(self) -> int:
        """Processes that the kernel has killed in the group or below it."""
        kills = 0
        for folder, _, _ in os.walk(self.folder(MEMORY)):
            with contextlib.suppress(OSError):  # the agent has removed a container's group
                lines = (Path(folder) / "memory.oom_control").read_text().splitlines()
                kills += sum(int(line.split()[1]) for line in lines if "oom_kill " in line)
        return kills

    def hold(self, pid: int) -> None:
        """Moves a process into the group; its future children are limited too."""
        for folder in self.folders():
            _write(folder / "cgroup.procs", str(pid))

    def cpu_used_seconds(self) -> float:
        """The CPU time of all processes that ever ran in the group."""
        return int((self.folder("cpuacct") / "cpuacct.usage").read_text()) / 1e9

    def disk_read_bytes(self) -> int:
        """The bytes read from the device by all processes that ever ran in the group."""
        file = self.folder("blkio") / "blkio.throttle.io_service_bytes_recursive"
        return sum(
            int(line.split()[2]) for line in file.read_text().splitlines() if " Read " in line
        )

    def folders(self) -> list[Path]:
        # Two controllers may share one mount.
        controllers = (*CONTROLLERS, MEMORY) if self.memory_bytes is not None else CONTROLLERS
        return sorted({self.folder(controller) for controller in controllers})


def remove_tree(name: str) -> None:
    """Removes `name` and all groups below it in every hierarchy; kills their processes."""
    for mount in all_mounts():
        _remove(mount / name)


def groups_named(prefix: str) -> list[Path]:
    """The groups directly under a mount whose names begin with `prefix`."""
    return [group for mount in all_mounts() for group in mount.glob(f"{prefix}*")]


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + REMOVE_SECONDS
    while folder.is_dir():
        # The deepest first: a group with a child cannot be removed.
        for current, _, _ in os.walk(folder, topdown=False):
            group = Path(current)
            try:
                kill_all(int(pid) for pid in (group / "cgroup.procs").read_text().split())
                group.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                if time.monotonic() >= deadline:
                    raise
        if folder.is_dir():
            time.sleep(0.1)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text)
    except OSError as error:
        raise CannotHold(f"writing {text!r} to {file}: {error.strerror}") from error
