"""Cheap containers of a fixed size: Hadoop's distributed shell runs `sleep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cluster.hadoop_conf import write_configuration
from cluster.java import java_command, java_environment
from cluster.kerberos import Ticket
from cluster.paths import Checkout
from cluster.processes import Daemon, command_name, strays
from cluster.security import Security
from cluster.settings import MEBIBYTE
from cluster.waiting import wait_until

HEAP_MB = 128
APPEAR_SECONDS = 60.0
# The client kills its application after this time, on which no test may depend.
CLIENT_TIMEOUT_MS = 1_800_000
MAIN_CLASS = "org.apache.hadoop.yarn.applications.distributedshell.Client"


@dataclass(frozen=True)
class Sleepers:
    """An application whose containers sleep until a process ends, or for some time."""

    name: str
    containers: int
    memory_mb: int
    until_pid: int | None
    """Of a process on this machine; when it is gone they end well. None: after `for_seconds`."""

    queue: str = "default"
    master_memory_mb: int = 256
    held_mb: int = 0
    """What each container uses, beside next to nothing."""

    node_label: str = ""
    """Where all of it runs; empty: where the queue says."""

    tags: str = ""
    for_seconds: int = 0

    @property
    def command(self) -> str:
        wait = f"sleep {self.for_seconds}"
        if self.until_pid is not None:
            wait = f"tail --pid={self.until_pid} -f /dev/null"
        return wait if self.held_mb == 0 else holding(self.held_mb, wait)


def holding(held_mb: int, work: str) -> str:
    """A command that holds so much memory while `work` runs, which must print nothing."""
    # The last tail keeps its input until there is no more; nobody reads its output.
    held_bytes = held_mb * MEBIBYTE
    fill = f"head --bytes={held_bytes} /dev/zero"
    return f"({fill}; {work}) | tail --bytes={held_bytes} | head --bytes=0"


def sleeping(work: str) -> list[int]:
    """The sleepers' processes of the cluster that writes to `work`."""
    return [pid for pid in strays(work) if command_name(pid) == "tail"]


class Gateway(Protocol):
    """Where applications are submitted: a ResourceManager, or the Router of a federation."""

    def client_properties(self) -> dict[str, object]: ...

    def applications(self) -> list[dict[str, Any]]: ...


class DistributedShell:
    """Submits applications, each from its own JVM, which ends once YARN has the application."""

    def __init__(
        self,
        gateway: Gateway,
        work: Path,
        checkout: Checkout,
        security: Security | None = None,
        ticket: Ticket | None = None,
        name: str = "distributed-shell",
    ) -> None:
        """In a secure cluster, the owner of the ticket submits. `name` is that of its folder and
        log; two that submit at the same time need two."""
        self._name = name
        self._gateway = gateway
        self._security = security
        self._ticket = ticket
        self._work = work
        self._checkout = checkout

    def submit(self, sleepers: Sleepers) -> str:
        """Returns YARN's application id."""
        known = {listed["id"] for listed in self._gateway.applications()}
        client = self._client(sleepers)
        client.start()
        try:
            return wait_until(
                lambda: self._new(sleepers.name, known, client),
                f"application {sleepers.name}",
                APPEAR_SECONDS,
            )
        finally:
            client.kill()

    def begin(self, sleepers: Sleepers) -> Daemon:
        """Starts a client that submits and waits for the end. It exits with 0 if the application
        succeeded."""
        client = self._client(sleepers)
        client.start()
        return client

    def _new(self, name: str, known: set[str], client: Daemon) -> str | None:
        for listed in self._gateway.applications():
            # In state NEW the application is not stored yet; the client must wait.
            if listed["id"] not in known and listed["name"] == name:
                return listed["id"] if listed["state"] in ("ACCEPTED", "RUNNING") else None
        client.check()
        return None

    def _client(self, sleepers: Sleepers) -> Daemon:
        folder = self._work / self._name
        configuration = folder / "conf"
        security = self._security
        properties = self._gateway.client_properties()
        write_configuration(configuration, properties, self._work, security=security)
        jars = self._checkout.hadoop_jars
        shell_jar = next(jars.glob("hadoop-yarn-applications-distributedshell-*.jar"))
        arguments: Sequence[object] = (
            "-jar",
            shell_jar,
            "-appname",
            sleepers.name,
            "-queue",
            sleepers.queue,
            "-shell_command",
            sleepers.command,
            "-num_containers",
            sleepers.containers,
            "-container_memory",
            sleepers.memory_mb,
            "-container_vcores",
            1,
            "-master_memory",
            sleepers.master_memory_mb,
            "-timeout",
            CLIENT_TIMEOUT_MS,
            *(("-node_label_expression", sleepers.node_label) if sleepers.node_label else ()),
            *(("-application_tags", sleepers.tags) if sleepers.tags else ()),
        )
        # The client uploads to the home directory in the default file system.
        options = [f"-Duser.home={folder}", f"-Dwork={self._work}"]
        options += security.java_options if security else ()
        return Daemon(
            f"distributed shell {sleepers.name}",
            java_command(
                MAIN_CLASS,
                [configuration, f"{jars}/*"],
                HEAP_MB,
                options,
                list(map(str, arguments)),
            ),
            java_environment(configuration) | (self._ticket.environment if self._ticket else {}),
            self._work / "logs" / f"{self._name}.log",
        )
