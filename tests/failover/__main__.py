"""`make test-failover`: two ResourceManagers with automatic failover by ZooKeeper lose the active
one again and again, while applications run."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import cycle, islice
from pathlib import Path

from cluster.paths import Checkout
from demo.ending import Ending
from demo.progress import ProgressLine
from failover.bench import Bench
from failover.folder import refuse_foreign
from failover.record import Switch, report, text
from failover.views import Lost
from failover.ways import in_turn


def main() -> int:
    arguments = _arguments()
    progress = ProgressLine()
    switches: list[Switch] = []
    with Ending("the switches", progress, Lost) as ending:
        _run(arguments, switches, progress)
    if switches:
        print(text(switches))
    return ending.exit_code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m failover", description=__doc__)
    parser.add_argument("--switches", type=_positive, default=50, help="default: 50")
    parser.add_argument(
        "--output", type=Path, required=True, help="where logs and report.json are written"
    )
    return parser.parse_args()


def _positive(word: str) -> int:
    if not word.isdecimal() or int(word) == 0:
        raise argparse.ArgumentTypeError(f"{word}: a whole number of at least 1 is allowed")
    return int(word)


def _run(arguments: argparse.Namespace, switches: list[Switch], progress: ProgressLine) -> None:
    folder, wanted = arguments.output.resolve(), arguments.switches
    refuse_foreign(folder)
    bench = Bench(folder, Checkout())

    def write(problem: str | None) -> None:
        answer = report(switches, wanted, problem, bench.counters)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(json.dumps(answer, indent=2) + "\n")

    progress("starting ZooKeeper, the cluster and its applications")
    try:
        with bench:
            for way in islice(cycle(in_turn(bench.links)), wanted):
                switches.append(bench.switch(way))
                progress.done()
                print(switches[-1].line(wanted), flush=True)
                write("the run has not ended")
            short = bench.finish()
    except BaseException as problem:
        write(f"after {len(switches)} switches: {type(problem).__name__}: {problem}")
        raise
    write(None)
    hung = sum(one.has_hung for one in switches)
    print(f"{wanted} switches, {short} short applications succeeded, nothing was lost")
    print(f"{hung} times a former active one hung (YARN-11935) and was restarted")


if __name__ == "__main__":
    sys.exit(main())
