"""Simulates large executors among small ones, and how long they wait.

python -m scale_model.large
python -m scale_model.large --seeds 40
"""

from __future__ import annotations

import argparse
import sys
from statistics import mean

from cluster.paths import Checkout
from scale_model.options import count
from scale_model.recorded import read_folder
from scale_model.simulated_changes import Variant
from scale_model.simulation import Simulated
from scale_model.states import LARGE
from scale_model.workload import LARGE as NAME
from scale_model.workload import arrivals

VARIANTS = {
    "capacity": Variant("capacity"),
    "x2": Variant("x2"),
    "profiles": Variant("profiles"),
    "profiles, starvation after a day": Variant("profiles", ("--starvation-wait-ms", "86400000")),
}


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m scale_model.large",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--seeds", type=count, default=10, help="default: 10")
    arguments = options.parse_args()
    checkout = Checkout()
    recorded = read_folder(checkout.recorded_series)
    days = [arrivals(LARGE, recorded, seed) for seed in range(1, arguments.seeds + 1)]
    print("| | makespan, s | mean completion, s | wait of the large, s | longest wait, s |")
    print("|---|---|---|---|---|")
    for name, variant in VARIANTS.items():
        runs = variant.runs(days, checkout)
        figures = [
            mean(run.makespan_s for run in runs),
            mean(run.mean_completion_s for run in runs),
            mean(mean(_waits_of_large(run)) for run in runs),
            mean(max(_waits_of_large(run)) for run in runs),
        ]
        print(f"| {name} | {' | '.join(f'{figure:.0f}' for figure in figures)} |")
    return 0


def _waits_of_large(run: Simulated) -> list[float]:
    """From submission to the first executor's start, of each large application."""
    large = (one for one in run.applications if one["name"].startswith(NAME))
    return [one["started_s"] - one["submitted_s"] for one in large]


if __name__ == "__main__":
    sys.exit(main())
