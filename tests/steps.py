#!/usr/bin/env python3
"""Runs make targets one after the other, and prints how long each one took.

Each STEP has make's arguments: a target, or several, with variables and options where it needs
some, as in 'soak SOAK_SECONDS=120'. Stops at the first step that fails, and ends with its exit
code. Needs Python 3.9 and its standard library only.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

PROGRESS_SECONDS = 60.0
INTERRUPTED = 130


@dataclass
class Step:
    """A make target, and how it ended."""

    text: str
    result: str = "not run"
    seconds: float | None = None

    @property
    def name(self) -> str:
        """The targets, without variables and options."""
        return " ".join(
            word for word in self.text.split() if "=" not in word and not word.startswith("-")
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--make", default="make", help="default: %(default)s")
    parser.add_argument("steps", nargs="+", metavar="STEP")
    arguments = parser.parse_args()
    make = shlex.split(arguments.make)

    def command(step: Step) -> list[str]:
        return [*make, "--no-print-directory", *step.text.split()]

    return run_all([Step(text) for text in arguments.steps], command)


def run_all(
    steps: list[Step],
    command: Callable[[Step], list[str]],
    progress_seconds: float = PROGRESS_SECONDS,
) -> int:
    """Runs steps up to the first that fails, then prints the table of all."""
    code = 0
    try:
        for number, step in enumerate(steps, start=1):
            say(f"step {number} of {len(steps)}: {step.text}")
            code = run(step, command(step), progress_seconds)
            say(f"{step.name}: {step.result} after {duration(step.seconds)}")
            if code != 0:
                break
    except KeyboardInterrupt:
        code = INTERRUPTED
    print("\n".join(["", *table(steps)]), flush=True)
    return code


def run(step: Step, command: list[str], progress_seconds: float) -> int:
    """Runs one step to its end; a silent one shows from time to time that it runs."""
    begin = time.monotonic()
    step.result = "interrupted"
    process = subprocess.Popen(command)
    try:
        while True:
            try:
                code = process.wait(timeout=progress_seconds)
                break
            except subprocess.TimeoutExpired:
                say(f"{step.name}: running for {duration(time.monotonic() - begin)}")
    except KeyboardInterrupt:
        # The terminal has interrupted the step as well.
        process.wait()
        raise
    finally:
        step.seconds = time.monotonic() - begin
    step.result = "passed" if code == 0 else f"failed (exit code {code})"
    return code if code >= 0 else 128 - code


def table(steps: list[Step]) -> list[str]:
    """One line for each step, and one for all."""
    width = max(len(step.name) for step in steps)
    lines = [f"{step.name:<{width}}  {duration(step.seconds):>9}  {step.result}" for step in steps]
    total = sum(step.seconds or 0.0 for step in steps)
    return [*lines, f"{'total':<{width}}  {duration(total):>9}"]


def duration(seconds: float | None) -> str:
    """As `4 min 07 s`; empty for a step that did not run."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def say(line: str) -> None:
    print(f"== {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
