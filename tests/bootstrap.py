#!/usr/bin/env python3
"""Makes ready what the demo and the tests need under target/: Hadoop's jars and a Python
environment. Runs with any Python 3.9 or newer and only the standard library."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cluster.paths import DEFAULT_HADOOP_VERSION, Checkout
from cluster.prerequisites import missing_prerequisites


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hadoop-version", default=DEFAULT_HADOOP_VERSION)
    parser.add_argument(
        "--check", action="store_true", help="only say what is missing, fetch nothing"
    )
    arguments = parser.parse_args()

    missing = missing_prerequisites()
    if missing:
        for line in missing:
            print(line, file=sys.stderr)
        return 1
    if arguments.check:
        return 0
    checkout = Checkout(hadoop_version=arguments.hadoop_version)
    try:
        fetch_hadoop(checkout)
        make_environment(checkout)
    except subprocess.CalledProcessError as failure:
        print(
            f"failed with exit code {failure.returncode}: {' '.join(failure.cmd)}", file=sys.stderr
        )
        return 1
    return 0


def fetch_hadoop(checkout: Checkout) -> None:
    """Copies Hadoop's runtime jars through Maven, once for each version and each pom."""
    pom = checkout.tests / "hadoop" / "pom.xml"
    stamp = checkout.hadoop_jars / ".complete"
    wanted = _digest(pom)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"fetching Hadoop {checkout.hadoop_version} to {checkout.hadoop_jars}", flush=True)
    shutil.rmtree(checkout.hadoop_jars, ignore_errors=True)
    subprocess.run(
        [
            "mvn",
            "--batch-mode",
            "-Dstyle.color=never",
            "--quiet",
            "--file",
            str(pom),
            "dependency:copy-dependencies",
            f"-Dhadoop.version={checkout.hadoop_version}",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={checkout.hadoop_jars}",
        ],
        check=True,
    )
    stamp.write_text(wanted)


def make_environment(checkout: Checkout) -> None:
    """Makes target/venv from requirements.txt, anew when that file has changed."""
    requirements = checkout.tests / "requirements.txt"
    stamp = checkout.environment / ".complete"
    wanted = _digest(requirements) + sys.version
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"making the Python environment {checkout.environment}", flush=True)
    shutil.rmtree(checkout.environment, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(checkout.environment)], check=True)
    pip = [str(checkout.python), "-m", "pip", "install", "--quiet", "--requirement"]
    subprocess.run(
        [*pip, str(requirements)],
        check=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    stamp.write_text(wanted)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
