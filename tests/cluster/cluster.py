"""The whole cluster: starts it, stops it, and leaves nothing behind."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from cluster.administration import Administration
from cluster.agent import Agent
from cluster.cgroups import CannotHold, NodeShare, check_can_hold, groups_named, remove_tree
from cluster.node_manager import NodeManager
from cluster.paths import Checkout
from cluster.processes import kill_strays
from cluster.resource_manager import ResourceManager
from cluster.running import Running
from cluster.settings import ClusterSettings
from cluster.signals import undisturbed
from cluster.waiting import wait_until

REGISTER_SECONDS = 90.0
ELECT_SECONDS = 60.0
GROUP_PREFIX = "elastane-demo-"


class Cluster(Running):
    """A context manager. Its end, or the end of this process, stops everything."""

    def __init__(self, settings: ClusterSettings, checkout: Checkout) -> None:
        self.settings = settings
        self.cannot_hold: str | None = None
        self._group = "-".join(filter(None, (f"{GROUP_PREFIX}{os.getpid()}", settings.sub_cluster)))
        self._sockets: Path | None = None
        self._checkout = checkout
        self.resource_manager: ResourceManager
        """The active one."""
        self.resource_managers: list[ResourceManager] = []
        self.node_managers: list[NodeManager] = []
        self.agents: list[Agent] = []
        self.shares: list[NodeShare] = []

    def __enter__(self) -> Cluster:
        atexit.register(self.stop)
        return super().__enter__()

    def start(self) -> None:
        self._prepare_work()
        self._make_shares()
        self.resource_managers = [
            ResourceManager(self.settings, self._checkout, identifier)
            for identifier in self.settings.resource_managers or (None,)
        ]
        for manager in self.resource_managers:
            manager.all = self.resource_managers
        self.resource_manager = self.resource_managers[0]
        # A Unix socket's path must be short; the checkout's path may be long.
        self._sockets = Path(tempfile.mkdtemp(prefix=f"{self._group}-"))
        for index in range(self.settings.nodes):
            self._add_node(index, self._sockets)
        for manager in self.resource_managers:
            manager.begin_start()
        for agent in self.agents:
            if agent.memory is not None:
                agent.memory.start()
            agent.start()
        for node_manager in self.node_managers:
            node_manager.start()
        for manager in self.resource_managers:
            manager.wait_started()
        if self.settings.zookeeper:
            self.resource_manager = self.wait_elected()
        elif self.settings.resource_managers:
            self.administration.activate(self.resource_manager)
        self.wait_registered()
        if self.settings.hold_node_managers:
            for share, node_manager in zip(self.shares, self.node_managers, strict=False):
                share.hold(node_manager.daemon.pid)

    @property
    def administration(self) -> Administration:
        settings = self.settings
        return Administration(
            self.resource_manager, settings.work, self._checkout, settings.security
        )

    def fail_over(self, manager: ResourceManager, *options: str) -> None:
        """Makes another ResourceManager active, once the former one no longer is."""
        self.administration.activate(manager, *options)
        self.resource_manager = manager

    def wait_elected(self, *former: ResourceManager) -> ResourceManager:
        """Waits until ZooKeeper has made another ResourceManager than `former` active."""
        others = [one for one in self.resource_managers if one not in former]

        def elected() -> ResourceManager | None:
            active = (one for one in others if one.high_availability_state() == "ACTIVE")
            return next(active, None)

        return wait_until(elected, "an active ResourceManager", ELECT_SECONDS)

    def wait_registered(self) -> None:
        def all_running() -> bool:
            self.resource_manager.daemon.check()
            for node_manager in self.node_managers:
                node_manager.daemon.check()
            return self.resource_manager.running_nodes() == self.settings.nodes

        wait_until(all_running, f"{self.settings.nodes} nodes RUNNING", REGISTER_SECONDS)

    def check(self) -> None:
        """Raises ProcessEnded if a daemon has died."""
        daemons = [*self.resource_managers, *self.node_managers, *self.agents]
        for owner in daemons:
            owner.daemon.check()

    def stop(self) -> None:
        """May be called repeatedly and in any state; a second Ctrl-C does not interrupt it."""
        atexit.unregister(self.stop)
        with undisturbed():
            self._stop()

    def _stop(self) -> None:
        # A NodeManager that is asked to stop waits for the ResourceManager's word on each
        # application.
        for node_manager in self.node_managers:
            node_manager.daemon.kill()
        daemons = [agent.daemon for agent in self.agents]
        daemons += [manager.daemon for manager in self.resource_managers]
        for daemon in daemons:
            daemon.ask_to_stop()
        for daemon in daemons:
            daemon.stop()
        for agent in self.agents:
            if agent.memory is not None:
                agent.memory.stop()
        kill_strays(str(self.settings.work))
        if self.shares or self.agents:
            remove_tree(self._group)
        self.shares = []
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
        self._drop_containers_files()

    def _prepare_work(self) -> None:
        # Left behind by a run that was ended with SIGKILL.
        kill_strays(str(self.settings.work))
        for group in groups_named(GROUP_PREFIX):
            owner = group.name.removeprefix(GROUP_PREFIX).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                remove_tree(group.name)
        shutil.rmtree(self.settings.work, ignore_errors=True)
        self.settings.work.mkdir(parents=True)

    def _make_shares(self) -> None:
        if not self.settings.hold_nodes:
            return
        try:
            check_can_hold()
        except CannotHold as reason:
            self.cannot_hold = str(reason)
            return
        shape = self.settings.shape
        for index in range(self.settings.nodes):
            name = f"{self._group}/node-{index}"
            write_share = shape.disk_write_share
            written = None if write_share is None else shape.disk_bytes_per_s * write_share
            share = NodeShare(
                name,
                shape.cpu_cores,
                round(shape.disk_bytes_per_s - (written or 0)),
                None if written is None else round(written),
                shape.memory_bytes if self.settings.hold_memory else None,
            )
            self.shares.append(share)
            share.create(self.settings.work)

    def _add_node(self, index: int, sockets: Path) -> None:
        socket = None
        if self.settings.elastane is not None:
            socket = sockets / f"node-{index}.sock"
            group = f"{self._group}/node-{index}"
            share = self.shares[index] if self.shares else None
            name = f"node-{index}"
            self.agents.append(Agent(name, self.settings, self._checkout, socket, group, share))
        client = self.resource_manager.client_properties()
        self.node_managers.append(NodeManager(index, self.settings, self._checkout, client, socket))

    def _drop_containers_files(self) -> None:
        """Keeps the logs and removes the rest, which is large and useless."""
        for name in ("tmp", "rm-state", "staging"):
            shutil.rmtree(self.settings.work / name, ignore_errors=True)
        for node_manager in self.node_managers:
            for name in ("local", "recovery"):
                shutil.rmtree(self.settings.work / node_manager.name / name, ignore_errors=True)
