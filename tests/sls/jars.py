"""Fetches SLS with what it needs at run time, and compiles the schedulers that it runs."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from cluster.java import java_program
from cluster.paths import Checkout

JAVA = Path(__file__).parent / "java"
LIMIT_SECONDS = 600.0
# Hadoop's jars name annotations and files that they lack.
LINTS = "-Xlint:all,-classfile,-path,-processing,-serial"


def class_path(checkout: Checkout, folder: Path) -> list[Path | str]:
    """Raises CalledProcessError and TimeoutExpired."""
    jars = _fetch(folder / checkout.hadoop_version, checkout.hadoop_version)
    scheduler = checkout.root / "java-shim" / "scheduler" / "target"
    needed: list[Path | str] = [scheduler / "classes", scheduler / "test-classes", jars / "*"]
    classes = folder / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    subprocess.run(
        [
            *(java_program("javac"), "--release", "17", LINTS, "-Werror", "-proc:none"),
            *("-d", classes, "-cp", ":".join(map(str, needed))),
            *sorted(JAVA.rglob("*.java")),
        ],
        check=True,
        timeout=LIMIT_SECONDS,
    )
    return [classes, *needed]


def _fetch(folder: Path, hadoop_version: str) -> Path:
    """Maven fetches once for each version and pom."""
    pom, jars, stamp = JAVA / "pom.xml", folder / "jars", folder / ".complete"
    wanted = hashlib.sha256(pom.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(jars, ignore_errors=True)
        subprocess.run(
            [
                *("mvn", "--batch-mode", "--no-transfer-progress", "-Dstyle.color=never"),
                *("--quiet", "--file", pom, f"-Dhadoop.version={hadoop_version}"),
                *("dependency:copy-dependencies", "-DincludeScope=runtime"),
                f"-DoutputDirectory={jars}",
            ],
            check=True,
            timeout=LIMIT_SECONDS,
        )
        stamp.write_text(wanted)
    return jars
