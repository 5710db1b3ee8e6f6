"""What is missing is named with what to install, before anything is fetched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cluster.paths import Checkout

BOOTSTRAP = Checkout().tests / "bootstrap.py"


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BOOTSTRAP)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_each_missing_tool_gets_one_line(tmp_path: Path) -> None:
    done = run({"PATH": str(tmp_path)})
    assert done.returncode == 1
    java, maven, rust = done.stderr.splitlines()
    assert "openjdk-17" in java
    assert "apt-get install maven" in maven
    assert "https://rustup.rs" in rust


@pytest.mark.parametrize("printed", ["javac 11.0.22", "javac 1.8.0_402", "gibberish"])
def test_a_java_that_is_too_old_is_named_with_its_place(tmp_path: Path, printed: str) -> None:
    compiler = tmp_path / "bin" / "javac"
    compiler.parent.mkdir()
    compiler.write_text(f"#!/bin/sh\necho {printed}\n")
    compiler.chmod(0o755)
    done = run({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)})
    assert str(compiler) in done.stderr.splitlines()[0]
    assert "JDK 17" in done.stderr.splitlines()[0]
