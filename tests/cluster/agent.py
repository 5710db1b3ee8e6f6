"""One node's agent process."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from cluster.cgroups import NodeShare
from cluster.journal import lines
from cluster.node_memory import NodeMemory, anonymous_bytes_of
from cluster.paths import Checkout
from cluster.processes import Daemon
from cluster.settings import ClusterSettings
from cluster.waiting import wait_until

START_SECONDS = 15.0


class Agent:
    """`elastane-agent run` with its own configuration."""

    def __init__(
        self,
        name: str,
        settings: ClusterSettings,
        checkout: Checkout,
        socket: Path,
        group: str,
        share: NodeShare | None = None,
    ) -> None:
        """`share` tells the node's memory where the node is held to it."""
        self.name = name
        self.socket = socket
        self._settings = settings
        self._checkout = checkout
        self._group = group
        self._configuration = settings.work / name / "agent.toml"
        self.audit = settings.work / name / "audit.jsonl"
        self.memory: NodeMemory | None = None
        if settings.own_memory:
            # A path that containers' environments name and the NodeManager's command line does not.
            mark = str(settings.work / name / "local")
            used = partial(anonymous_bytes_of, mark)
            if share is not None and share.memory_bytes is not None:
                used = share.memory_used_bytes
            file = settings.work / name / "meminfo"
            self.memory = NodeMemory(file, used, settings.shape.memory_bytes)
        self.daemon = self._daemon()

    def start(self) -> None:
        self._configuration.parent.mkdir(parents=True, exist_ok=True)
        self._configuration.write_text(self._toml())
        self.daemon = self._daemon()
        self.daemon.start()

        def listens() -> bool:
            self.daemon.check()
            return self.socket.is_socket()

        wait_until(listens, f"the socket of the agent {self.name}", START_SECONDS)

    def audited(self, container: str) -> list[dict[str, Any]]:
        """The audit file's entries about a container, oldest first."""
        return [entry for entry in lines(self.audit) if entry["container"] == container]

    def containers(self) -> list[dict[str, Any]]:
        """What `elastane-agent status` shows of each container."""
        command = [self._checkout.agent, "status", "--json", "--config", self._configuration]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shown: list[dict[str, Any]] = json.loads(told)["containers"]
        return shown

    def _daemon(self) -> Daemon:
        command: list[str | Path] = [self._checkout.agent, "run", "--config", self._configuration]
        return Daemon(
            f"agent {self.name}",
            self.memory.command(command) if self.memory else command,
            dict(os.environ),
            self._settings.work / "logs" / f"{self.name}-agent.log",
        )

    def _toml(self) -> str:
        shape = self._settings.shape
        more = "".join(f"{key} = {value}\n" for key, value in self._settings.agent.items())
        return f"""\
{more}
[socket]
path = "{self.socket}"

[cgroup]
parent = "{self._group}"

[capacity]
cpu_cores = {shape.cpu_cores}
memory_bytes = {shape.memory_bytes}
disk_bytes_per_s = {shape.disk_bytes_per_s}

[audit]
file = "{self.audit}"
"""
