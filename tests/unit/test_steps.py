"""Each step's time and result is printed, also when one fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cluster.paths import Checkout
from steps import Step, duration, run_all, table

STEPS = Checkout().tests / "steps.py"


def exits(step: Step) -> list[str]:
    """Each step is named after its exit code."""
    return [sys.executable, "-c", f"raise SystemExit({step.name})"]


def test_the_first_failure_ends_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    steps = [Step("0"), Step("7"), Step("0")]
    assert run_all(steps, exits) == 7
    assert [step.result for step in steps] == ["passed", "failed (exit code 7)", "not run"]
    printed = capfd.readouterr().out
    assert "== step 2 of 3: 7" in printed
    assert "== 7: failed (exit code 7) after " in printed
    assert printed.rstrip().endswith("\n".join(table(steps)))


def test_a_long_step_shows_that_it_runs(capfd: pytest.CaptureFixture[str]) -> None:
    def sleeps(_: Step) -> list[str]:
        return [sys.executable, "-c", "import time; time.sleep(0.5)"]

    assert run_all([Step("sleep")], sleeps, progress_seconds=0.1) == 0
    assert "== sleep: running for 0 s" in capfd.readouterr().out


def test_the_table_is_aligned_and_ends_with_the_sum() -> None:
    steps = [Step("lint", "passed", 59.6), Step("test-rust X=1", "failed (exit code 2)", 247.0)]
    assert table([*steps, Step("soak")]) == [
        "lint       1 min 00 s  passed",
        "test-rust  4 min 07 s  failed (exit code 2)",
        "soak                  not run",
        "total      5 min 07 s",
    ]
    assert duration(None) == ""


def test_a_step_is_a_target_with_variables() -> None:
    done = subprocess.run(
        [sys.executable, str(STEPS), "--make", "echo make", "soak SOAK_SECONDS=120"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "make --no-print-directory soak SOAK_SECONDS=120\n" in done.stdout


def test_a_step_with_several_targets_is_named_after_them() -> None:
    assert Step("fuzz soak SOAK_SECONDS=120 --jobs=2").name == "fuzz soak"
