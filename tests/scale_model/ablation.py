"""Simulates the scale model's applications with one rule or setting of Elastane changed at a time.

python -m scale_model.ablation
python -m scale_model.ablation --state cpu-bound --seeds 3
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from cluster.paths import Checkout, MissingArtifact
from demo.progress import ProgressLine
from scale_model.contenders import CONTENDERS
from scale_model.recorded import BadSeries, read_folder
from scale_model.simulation import simulate
from scale_model.states import STATES
from scale_model.workload import Application, arrivals

CHANGES: dict[str, tuple[str, ...]] = {
    "new applications at their requests": ("--others", "off"),
    "no waiting for a better node": ("--pass-ms", "0"),
    "peaks of CPU and disk must fit": ("--peaks", "strict"),
    "no margin": ("--margin", "0"),
    "starvation after 180 s": ("--starvation-wait-ms", "180000"),
    "starvation after a day": ("--starvation-wait-ms", "86400000"),
    "favor makespan: no room held": ("--favor", "makespan"),
    "favor completion": ("--favor", "completion"),
}

Times = tuple[float, float]
"""Makespan and mean completion time, in seconds."""


def main() -> int:
    arguments = _arguments()
    checkout = Checkout()
    progress = ProgressLine()
    try:
        recorded = read_folder(checkout.recorded_series)
        rows: dict[str, list[str]] = {name: [] for name in CHANGES}
        for state in arguments.state:
            days = [
                arrivals(STATES[state], recorded, seed) for seed in range(1, arguments.seeds + 1)
            ]
            progress(f"{state}: as it is")
            usual = times_of(arguments.contender, days, (), checkout)
            for name, options in CHANGES.items():
                progress(f"{state}: {name}")
                rows[name].append(
                    change(usual, times_of(arguments.contender, days, options, checkout))
                )
    except (BadSeries, MissingArtifact, subprocess.CalledProcessError) as problem:
        progress.done()
        print(problem, file=sys.stderr)
        return 1
    progress.done()
    print(f"| | {' | '.join(arguments.state)} |\n|---|{'---|' * len(arguments.state)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scale_model.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    states = ["memory-bound", "cpu-bound", "disks", "grown"]
    parser.add_argument("--state", nargs="+", choices=list(STATES), default=states)
    parser.add_argument("--contender", choices=["learning", "profiles", "oracle"])
    parser.set_defaults(contender="profiles")
    parser.add_argument("--seeds", type=int, default=10, help="default: 10")
    return parser.parse_args()


def times_of(
    contender: str,
    days: Sequence[Sequence[Application]],
    options: tuple[str, ...],
    checkout: Checkout,
) -> list[Times]:
    with tempfile.TemporaryDirectory() as folder:
        times = [
            simulate(CONTENDERS[contender], day, Path(folder), checkout, options) for day in days
        ]
    return [one for one in times if one is not None]


def change(usual: list[Times], changed: list[Times]) -> str:
    """The mean changes in percent, over the seeds."""

    def percent(place: int) -> str:
        ratios = [one[place] / by[place] for one, by in zip(changed, usual, strict=True)]
        change = round(100 * (mean(ratios) - 1), 1)
        return f"{change:+.1f}".replace("-", "\N{MINUS SIGN}") if change else "0"

    return f"{percent(0)}, {percent(1)}"


if __name__ == "__main__":
    sys.exit(main())
