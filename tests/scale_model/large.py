"""Simulates large executors among small ones, and how long they wait.

python -m scale_model.large
python -m scale_model.large --seeds 40
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import mean
from typing import Any

from cluster.paths import Checkout, MissingArtifact
from scale_model.options import count
from scale_model.recorded import BadSeries, read_folder
from scale_model.simulated_changes import Variant
from scale_model.simulation import Simulated
from scale_model.states import LARGE
from scale_model.workload import LARGE_PREFIX, arrivals

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
    print("| | makespan, s | completion, s | of the large | of the others | wait, s | longest |")
    print("|---|---|---|---|---|---|---|")
    try:
        recorded = read_folder(checkout.recorded_series)
        days = [arrivals(LARGE, recorded, seed) for seed in range(1, arguments.seeds + 1)]
        for name, variant in VARIANTS.items():
            figures = [_figures(run) for run in variant.runs(days, checkout)]
            means = [mean(column) for column in zip(*figures, strict=True)]
            print(f"| {name} | {' | '.join(f'{figure:.0f}' for figure in means)} |", flush=True)
    except (BadSeries, MissingArtifact, subprocess.CalledProcessError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def _figures(run: Simulated) -> tuple[float, ...]:
    """Waits are those of large applications: from submission to the first executor's start."""
    large = [one for one in run.applications if one["name"].startswith(LARGE_PREFIX)]
    others = [one for one in run.applications if not one["name"].startswith(LARGE_PREFIX)]
    waits = [one["started_s"] - one["submitted_s"] for one in large]
    return (
        run.makespan_s,
        run.mean_completion_s,
        _completion_s(large),
        _completion_s(others),
        mean(waits),
        max(waits),
    )


def _completion_s(applications: list[dict[str, Any]]) -> float:
    return mean(one["ended_s"] - one["submitted_s"] for one in applications)


if __name__ == "__main__":
    sys.exit(main())
