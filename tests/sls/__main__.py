"""Hadoop's load simulator (SLS) with CapacityScheduler and then with Elastane in mode enforce.

Prints a line for each number of nodes. The exit code is 1 if a check failed, if an application did
not end within the time limit, or if SLS gave no figures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from cluster.paths import Checkout, MissingArtifact
from cluster.signals import interrupt_on_termination
from sls.figures import line
from sls.jars import class_path
from sls.run import RunFailed, Settings, Simulator, warn
from sls.trace import Load

SCHEDULERS = ("capacity", "elastane")
INTERRUPTED = 130
MOST_FAILURES_SHOWN = 5


def main() -> int:
    arguments = _arguments()
    interrupt_on_termination()
    checkout = Checkout()
    folder = checkout.target / "sls"
    try:
        loads = [
            Load(int(nodes), arguments.applications, arguments.containers, arguments.container_ms)
            for nodes in arguments.nodes.split(",")
        ]
        settings = Settings(arguments.seconds, arguments.heap_mb, arguments.off_switch)
        simulator = Simulator(class_path(checkout, folder), checkout.library, settings)
        passed = [_compare(simulator, load, folder) for load in loads]
    except subprocess.TimeoutExpired as problem:
        warn(f"{problem.cmd[0]} did not end within {problem.timeout:.0f} s")
        return 1
    except (ValueError, MissingArtifact, RunFailed, subprocess.CalledProcessError) as problem:
        warn(str(problem))
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0 if all(passed) else 1


def _compare(simulator: Simulator, load: Load, folder: Path) -> bool:
    measured = {name: simulator.run(name, load, folder / name) for name in SCHEDULERS}
    for name, figures in measured.items():
        if figures.is_slow(load.nodes):
            warn(
                f"{name}: {figures.heartbeats_per_s:.0f} heartbeats a second of {load.nodes} nodes:"
                " this machine is too slow or too busy for this load"
            )
    failures = [f"{name}: {text}" for name in SCHEDULERS for text in measured[name].failures]
    for failure in failures[:MOST_FAILURES_SHOWN]:
        warn(failure)
    if len(failures) > MOST_FAILURES_SHOWN:
        warn(f"and {len(failures) - MOST_FAILURES_SHOWN} more failures")
    print(line(load.nodes, measured["capacity"], measured["elastane"]), flush=True)
    return not failures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="sls", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--nodes",
        default="1000,5000,10000",
        help="one heartbeat a second each; several with commas; default: %(default)s",
    )
    for name, default, about in (
        ("applications", 1000, "all start at once"),
        ("containers", 100_000, "of all applications"),
        ("container-ms", 5000, "how long a container runs"),
        ("off-switch", 1, "CapacityScheduler's maximum-offswitch-assignments"),
        ("seconds", 600, "time limit of each scheduler"),
        ("heap-mb", 6144, "of each JVM"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, help=f"{about}; default: %(default)s"
        )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
