"""An application that requests a container at a certain place: its master is a process here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, java_environment
from cluster.paths import Checkout
from cluster.processes import Daemon
from cluster.resource_manager import ResourceManager
from cluster.spark import END_STATES
from cluster.waiting import wait_until

HEAP_MB = 128
APPEAR_SECONDS = 60.0
END_SECONDS = 60.0


@dataclass(frozen=True)
class Place:
    """Where the one container may run."""

    name: str
    queue: str
    memory_mb: int
    only_host: str = ""
    """Empty: on any."""

    blacklist: tuple[str, ...] = ()


class UnmanagedMaster:
    """Runs while the context is entered."""

    def __init__(
        self, manager: ResourceManager, place: Place, work: Path, checkout: Checkout
    ) -> None:
        configuration = work / "unmanaged-master" / "conf"
        write_configuration(configuration, manager.client_properties(), work)
        command = java_command(
            str(checkout.tests / "cluster" / "UnmanagedMaster.java"),
            [configuration, f"{checkout.hadoop_jars}/*"],
            HEAP_MB,
            [f"-Dwork={work}"],
            [place.name, place.queue, str(place.memory_mb), place.only_host, *place.blacklist],
        )
        log = work / "logs" / f"{place.name}.log"
        self._daemon = Daemon(place.name, command, java_environment(configuration), log)
        self._manager = manager

    def __enter__(self) -> str:
        """Returns YARN's application id once the master runs."""
        self._daemon.start()
        try:
            return wait_until(self._running, f"application {self._daemon.name}", APPEAR_SECONDS)
        except BaseException:
            self._end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        """YARN would miss the master only after ten minutes, in which the queue counts it."""
        self._daemon.kill()
        for one in self._not_ended():
            self._manager.kill_application(one["id"])
        wait_until(
            lambda: not self._not_ended(),
            f"the end of application {self._daemon.name}",
            END_SECONDS,
        )

    def _running(self) -> str | None:
        self._daemon.check()
        for listed in self._not_ended():
            if listed["state"] == "RUNNING":
                return str(listed["id"])
        return None

    def _not_ended(self) -> list[dict[str, Any]]:
        return [
            listed
            for listed in self._manager.applications()
            if listed["name"] == self._daemon.name and listed["state"] not in END_STATES
        ]
