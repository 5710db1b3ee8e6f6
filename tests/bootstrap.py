#!/usr/bin/env python3
"""Installs and fetches what the demo and the tests need.

As root on Debian, missing packages are installed with apt-get. Hadoop's jars and a Python
environment are put under target/. Needs Python 3.9 and its standard library only."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cluster.paths import DEFAULT_HADOOP_VERSION, Checkout
from cluster.prerequisites import (
    can_install,
    describe,
    install,
    missing_prerequisites,
    packages_of,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--hadoop-version", default=DEFAULT_HADOOP_VERSION, help="default: %(default)s"
    )
    parser.add_argument(
        "--check", action="store_true", help="only print what is missing; change nothing"
    )
    parser.add_argument(
        "--for-tests", action="store_true", help="include what only `make test` needs: QEMU, nft"
    )
    arguments = parser.parse_args()

    try:
        if not are_prerequisites_there(arguments.for_tests, may_install=not arguments.check):
            return 1
        if arguments.check:
            return 0
        checkout = Checkout(hadoop_version=arguments.hadoop_version)
        fetch_hadoop(checkout)
        make_environment(checkout)
    except subprocess.CalledProcessError as failure:
        print(
            f"failed with exit code {failure.returncode}: {' '.join(failure.cmd)}", file=sys.stderr
        )
        return 1
    return 0


def are_prerequisites_there(for_tests: bool, may_install: bool) -> bool:
    """Installs missing packages where possible, then prints what is still missing."""
    missing = missing_prerequisites(for_tests)
    packages = packages_of(missing)
    if packages and may_install and can_install():
        install(packages)
        missing = missing_prerequisites(for_tests)
    for line in describe(missing):
        print(line, file=sys.stderr)
    return not missing


def fetch_hadoop(checkout: Checkout) -> None:
    """Copies Hadoop's runtime jars with Maven, once for each version and each pom."""
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
    """Makes target/venv from requirements.txt, and again when that file has changed."""
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
