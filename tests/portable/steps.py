"""What every released program must do in a root: one step each, with what it has to print."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from portable.roots import ARCHIVE, Root

LOGS = "/opt/logs"
LOG_FILES = ("app-20261122031558-0000.lz4", "eventlog_v2_app-20261122031424-0000")
CLASSES = "/opt/classes"
DEPOSITORY = "/tmp/depository.sqlite"
# Prints the machine and the glibc that the steps have, so that the report proves them.
WHERE = "import os; print(os.uname().machine, os.confstr('CS_GNU_LIBC_VERSION'))"
JAVA = {
    "x86_64": "/usr/lib/jvm/java-11-openjdk-amd64/bin/java",
    "aarch64": "/usr/lib/jvm/java-11-openjdk-arm64/bin/java",
}


@dataclass(frozen=True)
class Step:
    """A command in the root."""

    command: list[str]
    prints: str
    """A regular expression; found in a line of the output."""
    may_fail: bool = False
    """Its exit code may be 1, since the root lacks what only a node has."""


def steps(architecture: str, version: str) -> list[Step]:
    """The steps for an unpacked archive of this version, in order."""
    programs = f"{ARCHIVE}/bin/{architecture}"
    elastane, agent = f"{programs}/elastane", f"{programs}/elastane-agent"
    jar = f"{ARCHIVE}/lib/elastane-scheduler-{version}.jar"
    number = re.escape(version)
    return [
        Step(["/usr/bin/python3", "-c", WHERE], rf"^{architecture} glibc 2\.31$"),
        Step([elastane, "--version"], rf"^elastane {number}$"),
        Step([elastane, "--help"], "^Usage: elastane <COMMAND>$"),
        # zstd and lz4 are read, SQLite is written and read.
        Step(
            [
                *(elastane, "import", "spark-eventlog", "--depository", DEPOSITORY),
                *(f"{LOGS}/{name}" for name in LOG_FILES),
            ],
            "^2 runs read: 2 added",
        ),
        Step([elastane, "profiles", "list", "--depository", DEPOSITORY], "SPARK"),
        Step([agent, "--version"], rf"^elastane-agent {number}$"),
        Step([agent, "doctor"], "cgroup", may_fail=True),
        Step(
            [
                *(JAVA[architecture], "-Xmx128m", "-cp", f"{jar}:{CLASSES}"),
                *("org.elastane.natives.UsesLibrary", DEPOSITORY),
            ],
            rf"^version {number} on (amd64|aarch64), the core panicked: ",
        ),
    ]


def failure(root: Root, step: Step) -> str | None:
    """Runs a step; says what is wrong, with all output, or nothing."""
    shown = " ".join(step.command)
    try:
        ended = root.run(step.command)
    except subprocess.TimeoutExpired as expired:
        return f"{shown}: not ended after {expired.timeout:.0f} s"
    line = next(
        (line for line in ended.stdout.splitlines() if re.search(step.prints, line)),
        None,
    )
    is_code_right = ended.returncode == 0 or (step.may_fail and ended.returncode == 1)
    if line is not None and is_code_right:
        print(f"  {shown}\n    {line}", flush=True)
        return None
    return (
        f"{shown}: exit code {ended.returncode}, and "
        f"{'no line' if line is None else 'a line'} that matches `{step.prints}`\n{ended.stdout}"
    )
