"""The figures of all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from reprovisioning.figures import RunFigures


@dataclass(frozen=True)
class Pair:
    """Two consecutive runs of the same application."""

    without: RunFigures
    reprovisioned: RunFigures

    @property
    def completion(self) -> float:
        return self.reprovisioned.completion_s / self.without.completion_s

    @property
    def executors(self) -> float:
        return self.reprovisioned.executors_s / self.without.executors_s

    @property
    def beside(self) -> float:
        return self.reprovisioned.beside_cores / self.without.beside_cores

    @property
    def executors_cpu(self) -> float:
        return self.reprovisioned.executors_core_s / self.without.executors_core_s

    def line(self, number: int) -> str:
        windows = self.reprovisioned.windows
        return (
            f"pair {number}: {self.without.completion_s:.1f} s {self.without.arm}, "
            f"{self.reprovisioned.completion_s:.1f} s {self.reprovisioned.arm}: "
            f"{self.completion:.3f}, its executors {self.executors:.3f}; "
            f"windows {windows.opened} opened, {windows.measured} measured, "
            f"{windows.returned} returned, {windows.too_little_left} times too little left; "
            f"lent {windows.lent_core_s:.1f} core-s, {windows.used_of_lent_core_s:.1f} used; "
            f"beside {self.without.beside_cores:.2f} and "
            f"{self.reprovisioned.beside_cores:.2f} cores: {self.beside:.3f}"
        )


@dataclass(frozen=True)
class Ratio:
    """The geometric mean of the pairs' ratios."""

    mean: float
    standard_error: float | None
    """Standard error of the mean logarithm, so relative; None for a single pair."""

    least: float
    most: float

    @classmethod
    def of(cls, ratios: list[float]) -> Ratio:
        logarithms = [math.log(one) for one in ratios]
        error = stdev(logarithms) / math.sqrt(len(ratios)) if len(ratios) > 1 else None
        return cls(math.exp(fmean(logarithms)), error, min(ratios), max(ratios))

    def __str__(self) -> str:
        spread = "" if self.standard_error is None else f" ± {self.mean * self.standard_error:.3f}"
        return f"{self.mean:.3f}{spread} ({self.least:.3f} to {self.most:.3f})"


@dataclass(frozen=True)
class Summary:
    """Figures of all pairs; a ratio is with windows over without."""

    pairs: int
    completion: Ratio
    executors: Ratio
    beside: Ratio
    executors_cpu: Ratio
    opened: int
    measured: int
    returned: int
    too_little_left: int
    lent_core_s: float
    used_of_lent_core_s: float

    @classmethod
    def of(cls, pairs: list[Pair]) -> Summary:
        windows = [pair.reprovisioned.windows for pair in pairs]
        return cls(
            pairs=len(pairs),
            completion=Ratio.of([pair.completion for pair in pairs]),
            executors=Ratio.of([pair.executors for pair in pairs]),
            beside=Ratio.of([pair.beside for pair in pairs]),
            executors_cpu=Ratio.of([pair.executors_cpu for pair in pairs]),
            opened=sum(one.opened for one in windows),
            measured=sum(one.measured for one in windows),
            returned=sum(one.returned for one in windows),
            too_little_left=sum(one.too_little_left for one in windows),
            lent_core_s=sum(one.lent_core_s for one in windows),
            used_of_lent_core_s=sum(one.used_of_lent_core_s for one in windows),
        )

    def text(self) -> str:
        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        return "\n".join(
            (
                f"{pairs}, with windows over without: mean ± standard error (least to most)",
                f"completion of the grown application  {self.completion}",
                f"time of its executors                {self.executors}",
                f"CPU time of its executors            {self.executors_cpu}",
                f"CPU of the application beside        {self.beside}",
                f"windows: {self.opened} opened, {self.measured} measured, "
                f"{self.returned} returned, {self.too_little_left} times too little left",
                f"lent {self.lent_core_s:.1f} core-s, {self.used_of_lent_core_s:.1f} of them used",
            )
        )
