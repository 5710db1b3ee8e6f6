"""One node's agent process."""

from __future__ import annotations

import os
from pathlib import Path

from cluster.paths import Checkout
from cluster.processes import Daemon
from cluster.settings import ClusterSettings
from cluster.waiting import wait_until

START_SECONDS = 15.0


class Agent:
    """`elastane-agent run` with a configuration of its own."""

    def __init__(
        self, name: str, settings: ClusterSettings, checkout: Checkout, socket: Path, group: str
    ) -> None:
        self.name = name
        self.socket = socket
        self._settings = settings
        self._checkout = checkout
        self._group = group
        self._configuration = settings.work / name / "agent.toml"
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

    def _daemon(self) -> Daemon:
        return Daemon(
            f"agent {self.name}",
            [self._checkout.agent, "run", "--config", self._configuration],
            dict(os.environ),
            self._settings.work / "logs" / f"{self.name}-agent.log",
        )

    def _toml(self) -> str:
        shape = self._settings.shape
        return f"""\
[socket]
path = "{self.socket}"

[cgroup]
parent = "{self._group}"

[capacity]
cpu_cores = {shape.cpu_cores}
memory_bytes = {shape.memory_bytes}
disk_bytes_per_s = {shape.disk_bytes_per_s}
"""
