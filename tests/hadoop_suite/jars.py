"""Builds the Java agent, and fetches Hadoop's tests with what they need at run time."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import Checkout


@dataclass(frozen=True)
class Jars:
    """What a JVM of the tests is started with."""

    agent: Path
    test_classes: Path
    """Hadoop's unpacked test jar."""
    dependencies: Path
    scheduler: tuple[Path, ...]
    """Elastane's classes and those of its tests."""
    library: Path


def prepare(checkout: Checkout, folder: Path, hadoop_version: str) -> Jars:
    """Maven fetches once for each version and pom; the agent is built each time."""
    pom = Path(__file__).parent / "java" / "pom.xml"
    dependencies = folder / hadoop_version / "jars"
    test_classes = folder / hadoop_version / "test-classes"
    stamp = folder / hadoop_version / ".complete"
    wanted = hashlib.sha256(pom.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"fetching the tests of Hadoop {hadoop_version}", flush=True)
        shutil.rmtree(folder / hadoop_version / "jars", ignore_errors=True)
        shutil.rmtree(test_classes, ignore_errors=True)
        _maven(
            pom,
            hadoop_version,
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={dependencies}",
        )
        # The tests' classes are used unpacked: some tests write beside them.
        tests = dependencies / f"hadoop-yarn-server-resourcemanager-{hadoop_version}-tests.jar"
        with zipfile.ZipFile(tests) as archive:
            archive.extractall(test_classes)
        tests.unlink()
        stamp.write_text(wanted)
    _maven(pom, hadoop_version, "package")
    scheduler = checkout.root / "java-shim" / "scheduler" / "target"
    return Jars(
        agent=folder / "agent" / "hadoop-suite.jar",
        test_classes=test_classes,
        dependencies=dependencies,
        scheduler=(scheduler / "classes", scheduler / "test-classes"),
        library=checkout.library,
    )


def _maven(pom: Path, hadoop_version: str, *arguments: str) -> None:
    subprocess.run(
        [
            "mvn",
            "--batch-mode",
            "--no-transfer-progress",
            "-Dstyle.color=never",
            "--quiet",
            "--file",
            str(pom),
            f"-Dhadoop.version={hadoop_version}",
            *arguments,
        ],
        check=True,
    )
