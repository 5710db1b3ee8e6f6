"""One run of SLS with one scheduler, in a JVM of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.java import java_program
from sls.figures import Figures
from sls.trace import Load

MAIN = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.SlsBenchmark"
# What the JVM needs to start, and for its last check.
GRACE_SECONDS = 120.0
LOGGING = """log4j.rootLogger=WARN,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%d{{ISO8601}} %p %c: %m%n
"""


class RunFailed(Exception):
    """SLS gave no figures."""


@dataclass(frozen=True)
class Settings:
    """Of each run."""

    limit_seconds: int
    """In which all applications must have ended."""
    heap_mb: int
    off_switch: int
    """How many containers that prefer other racks CapacityScheduler places in a heartbeat."""


@dataclass(frozen=True)
class Simulator:
    """SLS, in a JVM of its own for each scheduler."""

    class_path: Sequence[Path | str]
    library: Path
    settings: Settings

    def run(self, scheduler: str, load: Load, folder: Path) -> Figures:
        """`scheduler` is capacity or elastane. Raises RunFailed."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        log = folder / "log"
        (folder / "trace.json").write_text(json.dumps(load.trace()))
        (folder / "log4j.properties").write_text(LOGGING.format(log=log))
        (folder / "logging.properties").write_text(".level=SEVERE\n")
        # A name that no name server knows costs the ResourceManager seconds.
        hosts = ["localhost", socket.gethostname(), *(f"node{i}" for i in range(load.nodes))]
        (folder / "hosts").write_text("".join(f"127.0.0.1 {host}\n" for host in hosts))
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(
                self._command(scheduler, load, folder), stdout=output, cwd=folder
            )
            try:
                code = process.wait(timeout=self.settings.limit_seconds + GRACE_SECONDS)
            except subprocess.TimeoutExpired as missed:
                raise RunFailed(f"{scheduler}: no end within its time; see {log}") from missed
            finally:
                process.kill()
                process.wait()
        figures = folder / "figures.json"
        if code != 0 or not figures.is_file():
            raise RunFailed(f"{scheduler}: the JVM ended with {code}; see {log}")
        return Figures.parse(json.loads(figures.read_text()))

    def _command(self, scheduler: str, load: Load, folder: Path) -> list[str]:
        properties = {
            "elastane.library.path": self.library,
            "java.io.tmpdir": folder,
            "java.util.logging.config.file": folder / "logging.properties",
            "jdk.net.hosts.file": folder / "hosts",
            "log4j.configuration": (folder / "log4j.properties").as_uri(),
        }
        return [
            str(java_program()),
            f"-Xmx{self.settings.heap_mb}m",
            # The ResourceManager's web server needs it, and the scripts of Hadoop give it.
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            *(f"-D{name}={value}" for name, value in properties.items()),
            "-cp",
            os.pathsep.join(map(str, self.class_path)),
            MAIN,
            scheduler,
            str(folder),
            str(load.applications),
            str(load.containers),
            str(self.settings.off_switch),
            str(self.settings.limit_seconds),
        ]


def warn(text: str) -> None:
    print(f"bench-sls: {text}", file=sys.stderr, flush=True)
