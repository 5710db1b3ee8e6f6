"""`make demo`: runs the rounds, prints the table and writes the reports."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from cluster.java import java_program
from cluster.paths import Checkout
from cluster.spark import SubmissionFailed
from demo import report_html, report_json, table
from demo.data import Inputs
from demo.depository import merge_learned
from demo.ending import Ending
from demo.progress import ProgressLine
from demo.report_json import About
from demo.result import figures
from demo.rounds import COLUMNS, ROUNDS
from demo.run import RoundOutcome, run_round
from demo.truth import as_rows, claims
from demo.verdict import verdict
from demo.workloads import Arrival, arrivals

SCALE_FACTOR = 1.0


def main() -> int:
    arguments = _arguments()
    checkout = Checkout(hadoop_version=arguments.hadoop_version)
    progress = ProgressLine()
    expected = (SubmissionFailed, subprocess.CalledProcessError)
    with Ending("the demo", progress, *expected) as ending:
        outcomes, planned = _run(arguments, checkout, progress)
    if ending.exit_code:
        return ending.exit_code
    return _report(arguments, checkout, outcomes, planned)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four applications instead of all")
    parser.add_argument("--hadoop-version", default=Checkout.hadoop_version)
    parser.add_argument(
        "--rounds",
        nargs="+",
        choices=[one.name for one in ROUNDS],
        default=[one.name for one in ROUNDS],
        help="only these, with what earlier ones left behind",
    )
    parser.add_argument(
        "--output", type=Path, help="where everything is written (default: target/demo)"
    )
    return parser.parse_args()


def _run(
    arguments: argparse.Namespace, checkout: Checkout, progress: ProgressLine
) -> tuple[list[RoundOutcome], list[Arrival]]:
    folder = _folder(arguments, checkout)
    folder.mkdir(parents=True, exist_ok=True)
    inputs = Inputs(checkout.target / "demo" / "data", SCALE_FACTOR)
    progress("writing the input data")
    inputs.make(checkout)
    planned = arrivals(checkout, inputs, arguments.quick)
    chosen = [one for one in ROUNDS if one.name in arguments.rounds]
    outcomes = []
    for one in chosen:
        if one.begins_depository():
            for leftover in folder.glob(f"{one.depository}*"):
                leftover.unlink()
        if one.adds_learned() and not merge_learned(checkout, folder):
            progress(f"{one.name}: there is no round `learning` to learn from")
        outcomes.append(run_round(one, folder, checkout, inputs, planned, progress))
    return sorted(outcomes, key=lambda it: COLUMNS.index(it.round.name)), planned


def _folder(arguments: argparse.Namespace, checkout: Checkout) -> Path:
    return (arguments.output or checkout.target / "demo").resolve()


def _report(
    arguments: argparse.Namespace,
    checkout: Checkout,
    outcomes: list[RoundOutcome],
    planned: list[Arrival],
) -> int:
    rounds = [figures(outcome) for outcome in outcomes]
    about = About(
        command=shlex.join(["python", "-m", "demo", *sys.argv[1:]]),
        versions=_versions(checkout),
        quick=arguments.quick,
        verdict=verdict(rounds, arguments.quick),
        notes=_notes(outcomes),
    )
    folder = _folder(arguments, checkout)
    report_json.write_json(folder / "report.json", about, outcomes, planned)
    report_html.write_html(folder / "report.html", about, outcomes, planned)
    print(table.as_text(rounds))
    if (held := claims(rounds)) and not arguments.quick:
        print(f"\n{table.aligned(as_rows(held))}")
    for line in (*about.notes, about.verdict):
        print(f"\n{line}")
    print(f"\n{folder / 'report.html'}")
    return 1 if any(one.failures for one in rounds) else 0


def _notes(outcomes: list[RoundOutcome]) -> list[str]:
    ran = [outcome.round.name for outcome in outcomes]
    order = ", ".join(one.name for one in ROUNDS if one.name in ran)
    notes = [
        f"The rounds ran in this order: {order}. In `capacity` and `oversubscribed` the scheduler "
        "class is ElastaneScheduler in modes advise and observe: every decision is "
        "CapacityScheduler's, and the agents measure without limiting.",
        "CPU is that of all containers of the nodes and of their NodeManagers. ResourceManager, "
        "agents and the submitting JVM run outside the nodes' shares.",
        "The inputs are dropped from the page cache once a second, so that reads are the disk's.",
    ]
    reasons = {outcome.cannot_hold for outcome in outcomes if outcome.cannot_hold}
    return [*notes, *sorted(reasons)]


def _versions(checkout: Checkout) -> dict[str, str]:
    printed = subprocess.run(
        [str(java_program()), "-version"], capture_output=True, text=True, check=True
    )
    return {
        "Hadoop": checkout.hadoop_version,
        "Spark": version("pyspark"),
        "Java": printed.stderr.splitlines()[0],
        "Python": sys.version.split()[0],
        "scheduler": checkout.scheduler_jar.name,
    }


if __name__ == "__main__":
    sys.exit(main())
