"""Simulates the scale model's applications in each state, beside the plain alternatives.

python -m scale_model.alternatives
python -m scale_model.alternatives --state cpu-bound --seeds 10
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from cluster.paths import Checkout, MissingArtifact
from demo.progress import ProgressLine
from scale_model.ablation import change, times_of
from scale_model.recorded import BadSeries, read_folder
from scale_model.states import STATES
from scale_model.workload import arrivals

BASELINE = "capacity"
COMPARED = ("x2", "right-sized", "learning", "profiles", "oracle")


def main() -> int:
    arguments = _arguments()
    checkout = Checkout()
    progress = ProgressLine()
    rows: dict[str, list[str]] = {name: [] for name in COMPARED}
    try:
        recorded = read_folder(checkout.recorded_series)
        for state in arguments.state:
            days = [
                arrivals(STATES[state], recorded, seed) for seed in range(1, arguments.seeds + 1)
            ]
            progress(f"{state}: {BASELINE}")
            usual = times_of(BASELINE, days, (), checkout)
            for name in COMPARED:
                progress(f"{state}: {name}")
                rows[name].append(change(usual, times_of(name, days, (), checkout)))
    except (BadSeries, MissingArtifact, subprocess.CalledProcessError) as problem:
        progress.done()
        print(problem, file=sys.stderr)
        return 1
    progress.done()
    print(f"| against {BASELINE} | {' | '.join(arguments.state)} |")
    print(f"|---|{'---|' * len(arguments.state)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scale_model.alternatives",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--state", nargs="+", choices=list(STATES), default=list(STATES))
    parser.add_argument("--seeds", type=int, default=5, help="default: 5")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
