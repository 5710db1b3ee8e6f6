"""One JVM with one test class, alone in its network namespace and its folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from cluster.prerequisites import java_home
from hadoop_suite.classes import full
from hadoop_suite.comparison import STOCK
from hadoop_suite.jars import Jars

SCHEDULERS = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity"
OURS = f"{SCHEDULERS}.SelfReportingScheduler"
DUMP_SECONDS = 5.0
# As in Hadoop's build.
OPENED = (
    "io",
    "lang",
    "lang.reflect",
    "math",
    "net",
    "text",
    "util",
    "util.concurrent",
    "util.zip",
)


@dataclass(frozen=True)
class Limits:
    """What one JVM may use."""

    heap_mb: int
    seconds: float


@dataclass(frozen=True)
class Setting:
    """A key of YARN's configuration that every scheduler of ours is given."""

    key: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Setting:
        """From `KEY=VALUE`; raises ValueError."""
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f"'{text}' is not KEY=VALUE")
        return cls(key, value)


class Jvm:
    """Runs a class's tests once. The folder keeps the outcomes; a failed run also keeps the log."""

    def __init__(
        self, jars: Jars, folder: Path, limits: Limits, settings: Sequence[Setting]
    ) -> None:
        self._jars = jars
        self._folder = folder
        self._limits = limits
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    @property
    def outcomes(self) -> Path:
        return self._folder / "outcomes.jsonl"

    @property
    def log(self) -> Path:
        return self._folder / "log"

    def run(self, class_name: str, mode: str, only: list[str]) -> bool:
        """Runs all tests or those of `only`. False if the deadline ended the JVM."""
        shutil.rmtree(self._folder, ignore_errors=True)
        work = self._folder / "work"
        # Some tests write files beside their classes.
        shutil.copytree(self._jars.test_classes, work / "test-classes")
        for name in ("tmp", "data", "log", "elastane"):
            (work / name).mkdir()
        for name, keys in sites(work, mode).items():
            (work / "test-classes" / name).write_text(as_xml(keys))
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                isolated(self._command(work, class_name, mode, only)),
                cwd=work,
                env={**os.environ, "MALLOC_ARENA_MAX": "4"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                if self._killed:
                    self.kill()
                self._process.wait(timeout=self._limits.seconds)
                in_time = True
            except subprocess.TimeoutExpired:
                in_time = False
                self._dump_threads()
            finally:
                self.kill()
        shutil.rmtree(work, ignore_errors=True)
        return in_time

    def kill(self) -> None:
        """Ends the JVM and its children, which share its session."""
        self._killed = True
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _dump_threads(self) -> None:
        """SIGQUIT makes a JVM print its threads to its output."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGQUIT)
            time.sleep(DUMP_SECONDS)

    def _command(self, work: Path, class_name: str, mode: str, only: list[str]) -> list[str]:
        class_path = [
            work / "test-classes",
            *self._jars.scheduler,
            self._jars.agent,
            self._jars.dependencies / "*",
        ]
        properties = {
            "elastane.hadoop-tests.classes": work / "test-classes",
            "elastane.hadoop-tests.outcomes": self.outcomes,
            "elastane.hadoop-tests.directory": work / "elastane",
            "elastane.library.path": self._jars.library,
            "hadoop.log.dir": work / "log",
            "hadoop.tmp.dir": work / "tmp",
            "java.io.tmpdir": work / "tmp",
            "java.net.preferIPv4Stack": "true",
            "java.security.krb5.conf": work / "test-classes" / "krb5.conf",
            "test.build.data": work / "data",
            "test.build.dir": work,
            "test.build.classes": work / "test-classes",
        }
        if mode != STOCK:
            properties["elastane.hadoop-tests.scheduler"] = OURS
            properties["elastane.hadoop-tests.mode"] = mode
            for setting in self._settings:
                properties[f"elastane.hadoop-tests.set.{setting.key}"] = setting.value
        selected = (
            [f"--select-unique-id={test}" for test in only]
            if only
            else [f"--select-class={full(class_name)}"]
        )
        home = java_home()
        return [
            str(home / "bin" / "java" if home else "java"),
            f"-Xmx{self._limits.heap_mb}m",
            "-Xss4m",
            *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED),
            f"-javaagent:{self._jars.agent}",
            *(f"-D{name}={value}" for name, value in properties.items()),
            "-classpath",
            os.pathsep.join(map(str, class_path)),
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--details=none",
            # For the extension that skips FairScheduler's tests.
            "--config=junit.jupiter.extensions.autodetection.enabled=true",
            *selected,
        ]


def isolated(command: list[str]) -> list[str]:
    """In a network namespace of its own, which ends with its last process.

    Tests of Hadoop use fixed ports. A user other than root gets the right to make a namespace by a
    user namespace.
    """
    as_user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = 'ip link set lo up && exec "$@"'
    return ["unshare", *as_user, "--net", "--", "sh", "-c", script, "sh", *command]


def sites(work: Path, mode: str) -> dict[str, dict[str, str]]:
    """The configuration files beside the tests, for what a test does not set."""
    yarn = {"yarn.node-attribute.fs-store.root-dir": (work / "node-attribute").as_uri()}
    if mode != STOCK:
        # The default is CapacityScheduler.
        yarn["yarn.resourcemanager.scheduler.class"] = OURS
    # As in Hadoop's build, whose test jar lacks the file: the nodes' hosts do not resolve.
    core = {"hadoop.security.token.service.use_ip": "false"}
    return {"core-site.xml": core, "yarn-site.xml": yarn}


def as_xml(keys: dict[str, str]) -> str:
    """A configuration file of Hadoop."""
    properties = "".join(
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in keys.items()
    )
    return f"<configuration>{properties}</configuration>\n"
