"""Starting a JVM of the cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cluster.paths import MissingArtifact
from cluster.prerequisites import java_home
from cluster.processes import ProcessEnded

COMMAND_SECONDS = 60.0
# No JVM here runs long enough to repay optimized compilation.
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def java_program(name: str = "java") -> Path:
    home = java_home()
    if home is None:
        raise MissingArtifact("Java is missing: `make check` names the package to install")
    return home / "bin" / name


def jdk_program(name: str) -> Path:
    """A program of a JDK: of JAVA_HOME if that has a compiler, or the one on the PATH. The matrix
    sets JAVA_HOME to a runtime, whose `java` compiles no source file."""
    of_home = java_program(name)
    if of_home.is_file() and of_home.with_name("javac").is_file():
        return of_home
    found = shutil.which(name)
    return Path(found) if found else of_home


def java_environment(configuration: Path) -> dict[str, str]:
    """This process's environment plus Hadoop's configuration directory."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HADOOP_")}
    return {
        **inherited,
        "JAVA_HOME": str(java_program().parents[1]),
        "HADOOP_CONF_DIR": str(configuration),
        "YARN_CONF_DIR": str(configuration),
    }


def java_command(
    main_class: str,
    class_path: Iterable[Path | str],
    heap_mb: int,
    options: Sequence[str] = (),
    arguments: Sequence[str] = (),
) -> list[str]:
    # A source file is compiled first.
    java = jdk_program("java") if main_class.endswith(".java") else java_program()
    return [
        str(java),
        f"-Xmx{heap_mb}m",
        *JVM_OPTIONS,
        *options,
        "-cp",
        ":".join(map(str, class_path)),
        main_class,
        *arguments,
    ]


def run_java(
    command: Sequence[str], configuration: Path, environment: Mapping[str, str] | None = None
) -> str:
    """Runs a Hadoop command to its end, and returns what it printed.

    Raises ProcessEnded with its output if it fails.
    """
    done = subprocess.run(
        command,
        env=java_environment(configuration) | dict(environment or {}),
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout
