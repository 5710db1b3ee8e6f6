"""The states of a cluster that the scale model knows: which resource is scarce, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """How the recorded series are scaled, and how the applications arrive."""

    name: str
    meaning: str
    cpu_used: float
    """CPU that the executors would use of a node, on average, if the node were full by request."""

    disk_factor: float = 1.0
    """Disk traffic, beside CPU's scale."""

    requested_over_used: tuple[float, float] = (2.0, 2.5)
    """Memory that an executor requests, over what it uses on average: drawn evenly from this
    range."""

    greedy_every: int = 20
    """One application in this many uses all the memory that it requests."""

    applications: int = 90
    arrivals_s: float = 120.0
    """Time of the Poisson arrivals."""

    same_series: bool = False
    """Whether all executors have one series and arrive at once."""

    grown_every: int = 0
    """One recurring application in this many does half as much work again as in earlier runs; 0:
    none."""

    large_every: int = 0
    """One new application in this many, an even number, has two executors of 0.6 node by memory.
    They use as many times more CPU and disk, and request one virtual core as all do. 0: none."""

    deadline_over_alone: tuple[float, float] | None = None
    """Deadlines of recurring applications, over the time that they take alone: drawn evenly from
    this range."""


MEMORY_BOUND = State(
    "memory-bound",
    "memory is fully booked and less than half used, CPU is a third used: published clusters",
    cpu_used=0.35,
)
CPU_BOUND = State(
    "cpu-bound",
    "CPU is used up before memory is booked",
    cpu_used=1.3,
    applications=60,
)
DISKS = State(
    "disks",
    "as memory-bound, with four times the disk traffic: scans collide",
    cpu_used=0.3,
    disk_factor=4.0,
)
LOCK_STEP = State(
    "lock-step",
    "executors of one kind that all arrive at once: no order and no node is better than another",
    cpu_used=0.8,
    applications=20,
    arrivals_s=0.0,
    same_series=True,
)
GROWN = State(
    "grown",
    "as memory-bound; one in ten recurring applications does half as much work again",
    cpu_used=0.35,
    grown_every=10,
)

DEADLINES = State(
    "deadlines",
    "as memory-bound; recurring applications have deadlines at 1.2 to 3 times their time alone",
    cpu_used=0.35,
    deadline_over_alone=(1.2, 3.0),
)

LARGE = State(
    "large",
    "as memory-bound, three times as long; one application in 18 has executors of 0.6 node",
    cpu_used=0.35,
    applications=270,
    arrivals_s=400.0,
    large_every=18,
)

STATES = {
    one.name: one for one in (MEMORY_BOUND, CPU_BOUND, DISKS, LOCK_STEP, GROWN, DEADLINES, LARGE)
}
