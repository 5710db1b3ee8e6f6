"""`make bench-reprovisioning`: an application whose input grew by half since it was learned, on a
real cluster, with reprovisioning and without in turn, and another application beside it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from cluster.paths import Checkout
from cluster.spark import SubmissionFailed
from demo.ending import Ending
from demo.progress import ProgressLine
from reprovisioning.run import Bench, Harmed
from reprovisioning.scenario import Signing
from reprovisioning.summary import Pair, Summary

# About two minutes of work, since an executor has at most one window per minute.
BATCHES = 40


def main() -> int:
    arguments = _arguments()
    progress = ProgressLine()
    pairs: list[Pair] = []
    with Ending("the measurement", progress, Harmed, SubmissionFailed) as ending:
        _measure(arguments, pairs, progress)
    if pairs:
        print(Summary.of(pairs).text())
    return ending.exit_code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reprovisioning", description=__doc__)
    parser.add_argument("--repeats", type=int, default=4, help="pairs of runs; default: 4")
    parser.add_argument(
        "--against",
        choices=("off", "progress"),
        default="off",
        help="progress: containers follow their progress, without windows; default: off",
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=0.0,
        help="profile.margin; default: 0, an executor gets what it was learned to use",
    )
    parser.add_argument(
        "--learned-before",
        action="store_true",
        help="with what the application was learned to use by an earlier measurement in OUTPUT",
    )
    parser.add_argument(
        "--output", type=Path, required=True, help="where journals and figures are written"
    )
    return parser.parse_args()


def _measure(arguments: argparse.Namespace, pairs: list[Pair], progress: ProgressLine) -> None:
    checkout, folder = Checkout(), arguments.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    signing = Signing(folder / "input", checkout, BATCHES)
    signing.make_input()
    bench = Bench(folder, checkout, signing, arguments.margin)
    if not arguments.learned_before:
        progress("learning the application")
        bench.teach()
    for number in range(1, arguments.repeats + 1):
        # The order alternates, so that a machine that gets slower favours neither arm.
        arms = (arguments.against, "on") if number % 2 else ("on", arguments.against)
        runs = {}
        for arm in arms:
            progress(f"pair {number} of {arguments.repeats}, {arm}")
            runs[arm] = bench.run(arm, f"{arguments.against}-{number}-{arm}")
        pairs.append(Pair(runs[arguments.against], runs["on"]))
        progress.done()
        print(pairs[-1].line(number), flush=True)
        _write(folder / f"{arguments.against}.json", arguments, pairs)


def _write(file: Path, arguments: argparse.Namespace, pairs: list[Pair]) -> None:
    report = {
        "against": arguments.against,
        "margin": arguments.margin,
        "summary": asdict(Summary.of(pairs)),
        "pairs": [asdict(pair) for pair in pairs],
    }
    file.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
