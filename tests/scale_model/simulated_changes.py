"""Simulates the scale model's applications in several ways, and prints each against one of them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from cluster.paths import Checkout, MissingArtifact
from demo.progress import ProgressLine
from scale_model.contenders import CONTENDERS
from scale_model.options import count
from scale_model.recorded import BadSeries, read_folder
from scale_model.simulation import Simulated, simulate
from scale_model.states import STATES, State
from scale_model.workload import Application, arrivals


@dataclass(frozen=True)
class Variant:
    """A contender, and the simulator's options beyond its own."""

    contender: str
    options: tuple[str, ...] = ()

    def runs(self, days: Sequence[Sequence[Application]], checkout: Checkout) -> list[Simulated]:
        with tempfile.TemporaryDirectory() as folder:
            runs = [
                simulate(CONTENDERS[self.contender], day, Path(folder), checkout, self.options)
                for day in days
            ]
        return [one for one in runs if one is not None]


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
            by = usual.runs(days, checkout)
            for name, variant in variants.items():
                progress(f"{state}: {name}")
                changed = by if variant == usual else variant.runs(days, checkout)
                rows[name].append(_cell(STATES[state], by, changed))
    except (BadSeries, MissingArtifact, subprocess.CalledProcessError) as problem:
        progress.done()
        print(problem, file=sys.stderr)
        return 1
    progress.done()
    print(f"| {corner} | {' | '.join(states)} |\n|---|{'---|' * len(states)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


def _cell(state: State, usual: list[Simulated], changed: list[Simulated]) -> str:
    """Means over the seeds: the changes of makespan and mean completion time in percent, and the
    number of missed deadlines where there are some."""
    cells = [
        _percent(usual, changed, lambda one: one.makespan_s),
        _percent(usual, changed, lambda one: one.mean_completion_s),
    ]
    if state.deadline_over_alone:
        cells.append(f"{mean(one.missed_deadlines for one in changed):.1f} missed")
    return ", ".join(cells)


def _percent(
    usual: list[Simulated], changed: list[Simulated], value: Callable[[Simulated], float]
) -> str:
    ratios = [value(one) / value(by) for one, by in zip(changed, usual, strict=True)]
    change = round(100 * (mean(ratios) - 1), 1)
    return f"{change:+.1f}".replace("-", "\N{MINUS SIGN}") if change else "0"
