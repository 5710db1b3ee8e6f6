"""The process that runs all ApplicationMasters, and the files that it works from."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from cluster.cgroups import CONTROLLERS, MEMORY
from cluster.cluster import Cluster
from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, java_environment
from cluster.journal import lines
from cluster.paths import Checkout
from cluster.settings import MEBIBYTE
from scale_model import knowledge
from scale_model.contenders import Contender
from scale_model.scale import SHAPE
from scale_model.workload import Application

HEAP_MB = 768
SCRATCH_BYTES = 64 * MEBIBYTE


class Driver:
    """A context manager; its end kills the process."""

    def __init__(
        self,
        cluster: Cluster,
        contender: Contender,
        applications: Sequence[Application],
        checkout: Checkout,
    ) -> None:
        self._cluster = cluster
        self._contender = contender
        self._applications = applications
        self._checkout = checkout
        self._folder = cluster.settings.work / "scale-model"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Driver:
        self._folder.mkdir()
        self._write_nodes()
        self._write_applications()
        configuration = self._folder / "conf"
        client = self._cluster.resource_manager.client_properties()
        write_configuration(configuration, client, self._cluster.settings.work)
        source = self._checkout.tests / "scale_model" / "Applications.java"
        command = java_command(
            str(source),
            [configuration, f"{self._checkout.hadoop_jars}/*"],
            HEAP_MB,
            [f"-Dwork={self._cluster.settings.work}"],
            [str(self._folder / "applications.json")],
        )
        log = self._cluster.settings.work / "logs" / "driver.log"
        with self._events.open("wb") as events, log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                env=java_environment(configuration),
                stdin=subprocess.DEVNULL,
                stdout=events,
                stderr=errors,
                start_new_session=True,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def events(self) -> list[dict[str, Any]]:
        """What happened so far, oldest first."""
        return list(lines(self._events))

    def executors(self) -> list[dict[str, Any]]:
        """What each executor that has done its work says of it."""
        return list(lines(self._outcomes))

    @property
    def _events(self) -> Path:
        return self._folder / "events.jsonl"

    @property
    def _outcomes(self) -> Path:
        return self._folder / "executors.jsonl"

    def _write_nodes(self) -> None:
        """A container knows its node by the NodeManager's port, YARN's `NM_PORT`."""
        managers = self._cluster.node_managers
        for share, manager in zip(self._cluster.shares, managers, strict=True):
            node = self._folder / "nodes" / manager.node_id.rpartition(":")[2]
            node.mkdir(parents=True)
            for controller in (*CONTROLLERS, MEMORY):
                (node / controller).symlink_to(share.folder(controller))
            (node / "scratch").write_bytes(bytes(SCRATCH_BYTES))

    def _write_applications(self) -> None:
        planned = []
        for number, application in enumerate(self._applications):
            series = self._folder / f"{number}.csv"
            application.series.write(series)
            planned.append(
                {
                    "name": application.name,
                    "user": application.user,
                    "queue": application.queue,
                    "tags": knowledge.tags(self._contender, number) + _deadline_tags(application),
                    "afterMs": round(application.arrives_s * 1000),
                    "memoryMb": requested_mb(self._contender, application),
                    "vcores": application.vcores,
                    "commands": [
                        self._command(series, f"{number}/{executor}", stretch)
                        for executor, stretch in enumerate(application.stretches)
                    ],
                }
            )
        (self._folder / "applications.json").write_text(json.dumps(planned))

    def _command(self, series: Path, name: str, stretch: float) -> str:
        node = f'"{self._folder}/nodes/$NM_PORT"'
        groups = " ".join(f"--group {node}/{one}" for one in (*CONTROLLERS, MEMORY))
        return (
            f"{shlex.quote(str(self._checkout.replay))} {shlex.quote(str(series))} "
            f"--stretch {stretch:.4f} --scratch {node}/scratch "
            f"--write-share {SHAPE.disk_write_share} {groups} "
            f"--outcome {shlex.quote(str(self._outcomes))} --name {name}"
        )


def _deadline_tags(application: Application) -> list[str]:
    if application.deadline_s is None:
        return []
    return [f"elastane.deadline={round(application.deadline_s)}s"]


def requested_mb(contender: Contender, application: Application) -> int:
    if contender.right_sized and application.recurring:
        return math.ceil(application.seen_peak_bytes / MEBIBYTE)
    return application.memory_mb
