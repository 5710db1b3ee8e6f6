"""Runs Hadoop's own tests of capacity scheduling with Elastane in CapacityScheduler's place.

Examples:
  python -m hadoop_suite
  python -m hadoop_suite --classes TestLeafQueue,TestReservations --modes stock,enforce

Results are in target/hadoop-tests. If `stock` is not among the modes, the comparison uses its last
results. The exit code is 1 if a test fails that passes on stock, or if a class was not substituted;
2 if the tests cannot be started.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys

from cluster.paths import Checkout, MissingArtifact
from cluster.signals import interrupt_on_termination
from hadoop_suite import classes, report
from hadoop_suite.comparison import MODES, STOCK, compare
from hadoop_suite.jars import prepare
from hadoop_suite.jvm import Limits, Setting
from hadoop_suite.runner import Runner

INTERRUPTED = 130


def main() -> int:
    arguments = _arguments()
    modes = [mode for mode in MODES if mode in arguments.modes.split(",")]
    unknown = set(arguments.modes.split(",")) - set(MODES)
    if unknown:
        print(f"unknown modes: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    interrupt_on_termination()
    checkout = Checkout()
    folder = checkout.target / "hadoop-tests"
    try:
        names = classes.chosen(arguments.classes)
        for tool in ("ip", "unshare"):
            if shutil.which(tool) is None:
                raise MissingArtifact(
                    f"there is no `{tool}` on the PATH: each JVM needs its own network"
                )
        jars = prepare(checkout, folder, arguments.hadoop_version)
    except (classes.UnknownClass, MissingArtifact, subprocess.CalledProcessError) as failure:
        print(failure, file=sys.stderr)
        return 2
    results = folder / arguments.hadoop_version
    runner = Runner(jars, results, Limits(arguments.heap_mb, arguments.minutes * 60), arguments.set)
    try:
        runs = runner.run_all(names, modes, arguments.jobs)
    except KeyboardInterrupt:
        return INTERRUPTED
    if STOCK not in modes:
        stored = runner.stored_stock(names)
        print(f"stock: the stored results of {len(stored)} of {len(names)} classes")
        runs = [*stored, *runs]
    verdict = compare(runs)
    (results / "result.json").write_text(json.dumps([run.to_json() for run in runs], indent=1))
    print("\n".join(["", *report.table(runs), *report.lists(runs, verdict)]), flush=True)
    print(f"\n{'passed' if verdict.good else 'FAILED'}; details: {results}/result.json", flush=True)
    return 0 if verdict.good else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hadoop_suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--hadoop-version", default="3.5.0", help="default: %(default)s")
    parser.add_argument("--classes", default="", help="names with commas; default: all")
    parser.add_argument("--modes", default=",".join(MODES), help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=2, help="JVMs at once; default: %(default)s")
    parser.add_argument("--heap-mb", type=int, default=1536, help="default: %(default)s")
    parser.add_argument(
        "--minutes", type=float, default=15, help="deadline of one JVM; default: %(default)s"
    )
    parser.add_argument(
        "--set",
        type=Setting.parse,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a key of YARN's configuration for Elastane's modes",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
