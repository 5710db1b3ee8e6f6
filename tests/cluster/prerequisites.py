"""What must be installed before anything can be built, and how to install it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

OLDEST_JAVA = 17
OLDEST_PYTHON = (3, 9)


@dataclass(frozen=True)
class Tool:
    """A program that has to be there, and what to install for it."""

    command: str
    name: str
    install: str


TOOLS = (
    Tool("mvn", "Maven", "`apt-get install maven`, or https://maven.apache.org/install.html"),
    Tool("cargo", "Rust", "https://rustup.rs"),
)


def java_home() -> Path | None:
    """The Java to run everything with: JAVA_HOME, else the one on the PATH."""
    configured = os.environ.get("JAVA_HOME")
    if configured:
        return Path(configured)
    java = shutil.which("java")
    return Path(java).resolve().parents[1] if java else None


def missing_prerequisites() -> list[str]:
    """One line for each thing that is missing or too old; empty when all is there."""
    lines = []
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        lines.append(
            f"Python {sys.version.split()[0]} is too old: install Python {wanted} or newer"
        )
    lines.extend(_java_problem())
    for tool in TOOLS:
        if shutil.which(tool.command) is None:
            lines.append(
                f"{tool.name} is missing (no `{tool.command}` on the PATH): "
                f"install it by {tool.install}"
            )
    return lines


def _java_problem() -> list[str]:
    advice = (
        f"install JDK {OLDEST_JAVA}, for instance by "
        "`apt-get install openjdk-17-jdk-headless`, or set JAVA_HOME to one"
    )
    home = java_home()
    if home is None:
        return [f"Java is missing: {advice}"]
    compiler = home / "bin" / "javac"
    if not compiler.is_file():
        return [f"no Java compiler at {compiler}: {advice}"]
    printed = subprocess.run(
        [str(compiler), "-version"], capture_output=True, text=True, check=False
    )
    version = re.search(r"javac (?:1\.)?(\d+)", printed.stdout + printed.stderr)
    if version is None or int(version.group(1)) < OLDEST_JAVA:
        found = version.group(0) if version else "something unknown"
        return [f"{compiler} is {found}: {advice}"]
    return []
