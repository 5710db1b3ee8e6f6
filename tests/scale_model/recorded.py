"""Recorded series of executors, as `elastane-lab evaluate` reads them."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HEADER = ("t_s", "cpu_cores", "memory_bytes", "network_bytes_per_s", "disk_bytes_per_s")


class BadSeries(Exception):
    """A file is not a series; the message names the place."""


@dataclass(frozen=True)
class Series:
    """One executor's use, in slots of equal length."""

    slot_s: float
    cpu_cores: tuple[float, ...]
    memory_bytes: tuple[float, ...]
    network_bytes_per_s: tuple[float, ...]
    disk_bytes_per_s: tuple[float, ...]

    @property
    def length_s(self) -> float:
        return self.slot_s * len(self.cpu_cores)

    @property
    def mean_cpu_cores(self) -> float:
        return sum(self.cpu_cores) / len(self.cpu_cores)

    @property
    def mean_memory_bytes(self) -> float:
        return sum(self.memory_bytes) / len(self.memory_bytes)

    @property
    def peak_memory_bytes(self) -> float:
        return max(self.memory_bytes)

    def scaled(
        self, *, cpu: float, memory: float, network: float, disk: float, slot: float = 1.0
    ) -> Series:
        """Each resource times its factor; `slot` is that of the slots' length."""
        return Series(
            self.slot_s * slot,
            tuple(cpu * value for value in self.cpu_cores),
            tuple(memory * value for value in self.memory_bytes),
            tuple(network * value for value in self.network_bytes_per_s),
            tuple(disk * value for value in self.disk_bytes_per_s),
        )

    def resampled(self, slot_s: float) -> Series:
        """In slots of another length: the mean over each, and of memory the most."""
        count = max(1, math.ceil(self.length_s / slot_s - 1e-9))
        parts = [self._overlaps(slot * slot_s, (slot + 1) * slot_s) for slot in range(count)]

        def means(values: Sequence[float]) -> tuple[float, ...]:
            return tuple(
                sum(weight * values[place] for place, weight in part)
                / sum(weight for _, weight in part)
                for part in parts
            )

        return Series(
            slot_s,
            means(self.cpu_cores),
            tuple(max(self.memory_bytes[place] for place, _ in part) for part in parts),
            means(self.network_bytes_per_s),
            means(self.disk_bytes_per_s),
        )

    def _overlaps(self, begin_s: float, end_s: float) -> list[tuple[int, float]]:
        """The slots that lie in a stretch of time, each with the seconds of it."""
        last = len(self.cpu_cores) - 1
        places = range(
            min(last, int(begin_s / self.slot_s)), min(last, int(end_s / self.slot_s)) + 1
        )
        overlaps = (
            (place, min(end_s, (place + 1) * self.slot_s) - max(begin_s, place * self.slot_s))
            for place in places
        )
        return [(place, seconds) for place, seconds in overlaps if seconds > 1e-9]

    def write(self, file: Path) -> None:
        columns = (
            self.cpu_cores,
            self.memory_bytes,
            self.network_bytes_per_s,
            self.disk_bytes_per_s,
        )
        rows = [
            f"{index * self.slot_s:g},{cpu:.6f},{memory:.0f},{network:.0f},{disk:.0f}"
            for index, (cpu, memory, network, disk) in enumerate(zip(*columns, strict=True))
        ]
        file.write_text("\n".join([",".join(HEADER), *rows]) + "\n")


def read_series(file: Path) -> Series:
    with file.open(newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != HEADER:
            raise BadSeries(f"{file}: the first line must be {','.join(HEADER)}")
        rows = []
        for line, row in enumerate(reader, 2):
            try:
                rows.append([float(row[name]) for name in HEADER])
            except (TypeError, ValueError):
                raise BadSeries(f"{file}: line {line}: five numbers are allowed") from None
    if len(rows) < 2:
        raise BadSeries(f"{file}: {len(rows)} rows; at least 2 are allowed")
    columns = list(zip(*rows, strict=True))
    return Series(columns[0][1] - columns[0][0], *columns[1:])


def read_folder(folder: Path) -> dict[str, list[Series]]:
    """The runs of each application, oldest first: one folder an application, one CSV a run."""
    kinds = {
        one.name: [read_series(file) for file in sorted(one.glob("*.csv"))]
        for one in sorted(folder.iterdir())
        if one.is_dir()
    }
    kinds = {name: runs for name, runs in kinds.items() if runs}
    if not kinds:
        raise BadSeries(f"{folder}: no folder with a CSV file")
    return kinds
