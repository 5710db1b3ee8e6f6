"""Simulates the scale model's applications in several ways, and prints each against one of them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from cluster.paths import Checkout, MissingArtifact
from demo.progress import ProgressLine
from scale_model.contenders import CONTENDERS
from scale_model.options import count
from scale_model.recorded import BadSeries, read_folder
from scale_model.simulation import simulate
from scale_model.states import STATES
from scale_model.workload import Application, arrivals

Times = tuple[float, float]
"""Makespan and mean completion time, in seconds."""


@dataclass(frozen=True)
class Variant:
    """A contender, and the simulator's options beyond its own."""

    contender: str
    options: tuple[str, ...] = ()

    def times(self, days: Sequence[Sequence[Application]], checkout: Checkout) -> list[Times]:
        with tempfile.TemporaryDirectory() as folder:
            times = [
                simulate(CONTENDERS[self.contender], day, Path(folder), checkout, self.options)
                for day in days
            ]
        return [one for one in times if one is not None]


def parser(
    module: str, description: str | None, states: list[str], seeds: int
) -> argparse.ArgumentParser:
    """The options that all such comparisons have."""
    options = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--state", nargs="+", choices=list(STATES), default=states)
    options.add_argument("--seeds", type=count, default=seeds, help=f"default: {seeds}")
    return options


def print_changes(
    states: Sequence[str], seeds: int, usual: Variant, variants: Mapping[str, Variant], corner: str
) -> int:
    """Prints a table with a row for each variant and a column for each state.

    Returns the exit code."""
    checkout = Checkout()
    progress = ProgressLine()
    rows: dict[str, list[str]] = {name: [] for name in variants}
    try:
        recorded = read_folder(checkout.recorded_series)
        for state in states:
            days = [arrivals(STATES[state], recorded, seed) for seed in range(1, seeds + 1)]
            progress(f"{state}: {usual.contender}")
            by = usual.times(days, checkout)
            for name, variant in variants.items():
                progress(f"{state}: {name}")
                rows[name].append(_change(by, variant.times(days, checkout)))
    except (BadSeries, MissingArtifact, subprocess.CalledProcessError) as problem:
        progress.done()
        print(problem, file=sys.stderr)
        return 1
    progress.done()
    print(f"| {corner} | {' | '.join(states)} |\n|---|{'---|' * len(states)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


def _change(usual: list[Times], changed: list[Times]) -> str:
    """The mean changes in percent, over the seeds."""

    def percent(place: int) -> str:
        ratios = [one[place] / by[place] for one, by in zip(changed, usual, strict=True)]
        change = round(100 * (mean(ratios) - 1), 1)
        return f"{change:+.1f}".replace("-", "\N{MINUS SIGN}") if change else "0"

    return f"{percent(0)}, {percent(1)}"
