"""`make bench-cluster`: compares schedulers on the scale model and writes the reports."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from cluster.paths import Checkout
from demo.ending import Ending
from demo.progress import ProgressLine
from scale_model import report
from scale_model.arrival_file import Arrival, read_arrivals, recorded_arrivals
from scale_model.contenders import CAPACITY, CONTENDERS, HISTORY, Contender
from scale_model.figures import RunFigures, figures
from scale_model.options import count
from scale_model.recorded import BadSeries, Series, read_folder
from scale_model.run import RunOutcome, run_one
from scale_model.simulation import simulate
from scale_model.states import STATES, State
from scale_model.workload import arrivals

FEW = ("capacity", "x2", "profiles")
# An earlier day of the same recurring applications.
HISTORY_SEED = 0

EXAMPLES = """\
examples:
  python -m scale_model
  python -m scale_model --state cpu-bound --contenders capacity x3 profiles oracle --seeds 3
  python -m scale_model --series my-series --contenders capacity profiles
"""


def main() -> int:
    arguments = _arguments()
    checkout = Checkout(hadoop_version=arguments.hadoop_version)
    progress = ProgressLine()
    runs: list[RunFigures] = []
    outcomes: list[RunOutcome] = []
    folder: Path = (arguments.output or checkout.target / "bench-cluster").resolve()
    expected = (BadSeries, subprocess.CalledProcessError)
    try:
        with Ending("the comparison", progress, *expected) as ending:
            series = arguments.series or checkout.recorded_series
            recorded = read_folder(series)
            planned = read_arrivals(series, recorded)
            _run(arguments, recorded, planned, folder, checkout, progress, runs, outcomes)
    finally:
        if runs:
            _report(folder, runs, outcomes)
    if ending.exit_code:
        return ending.exit_code
    print(f"\n{report.about()}\n\n{report.as_text(runs)}\n\n{folder / 'report.html'}")
    return 1 if any(one.failures for one in runs) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scale_model",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--state", nargs="+", choices=list(STATES), default=["memory-bound"])
    parser.add_argument(
        "--contenders",
        nargs="+",
        choices=list(CONTENDERS),
        default=list(FEW),
        metavar="NAME",
        help=f"of {', '.join(CONTENDERS)} (default: {' '.join(FEW)})",
    )
    parser.add_argument("--all", action="store_true", help="compare all of them")
    parser.add_argument("--seeds", type=count, default=1, help="runs of each (default: 1)")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument(
        "--series",
        type=Path,
        help="a folder of series in the format of `elastane-lab evaluate`; its arrivals.csv, if"
        " there is one, says what arrives when",
    )
    parser.add_argument("--hadoop-version", default=Checkout.hadoop_version)
    parser.add_argument("--output", type=Path, help="default: target/bench-cluster")
    return parser.parse_args()


def _run(
    arguments: argparse.Namespace,
    recorded: dict[str, list[Series]],
    planned: list[Arrival] | None,
    folder: Path,
    checkout: Checkout,
    progress: ProgressLine,
    runs: list[RunFigures],
    outcomes: list[RunOutcome],
) -> None:
    names = list(CONTENDERS) if arguments.all else arguments.contenders
    contenders = [CONTENDERS[name] for name in names]
    for state in (STATES[name] for name in arguments.state):

        def run(
            contender: Contender, seed: int, history: Path | None, state: State = state
        ) -> RunOutcome:
            return run_one(
                state,
                contender,
                seed,
                recorded_arrivals(state, recorded, seed, planned)
                if planned
                else arrivals(state, recorded, seed),
                history,
                folder / "runs" / f"{state.name}-{contender.name}-{seed}",
                checkout,
                progress,
            )

        history = None
        if any(one.knows == HISTORY for one in contenders):
            history = run(CAPACITY, HISTORY_SEED, None).depository
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for contender in contenders:
                outcome = run(contender, seed, history)
                outcomes.append(outcome)
                applications = outcome.applications
                simulated = simulate(contender, applications, outcome.depository.parent, checkout)
                runs.append(figures(outcome, simulated))


def _report(folder: Path, runs: list[RunFigures], outcomes: list[RunOutcome]) -> None:
    command = shlex.join(["python", "-m", "scale_model", *sys.argv[1:]])
    report.write_json(folder / "report.json", runs)
    report.write_html(folder / "report.html", runs, outcomes, command)


if __name__ == "__main__":
    sys.exit(main())
