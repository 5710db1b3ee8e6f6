"""The ways in which an active ResourceManager is lost and comes back."""

from __future__ import annotations

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping

from cluster.link import Link
from cluster.resource_manager import ResourceManager
from cluster.waiting import wait_until

END_SECONDS = 30.0


class Way(ABC):
    name: str
    loses_session = False
    """Whether the former ResourceManager runs on while its session with ZooKeeper ends."""
    returns_first = False
    """Whether the former ResourceManager comes back as soon as another one is active. Otherwise it
    comes back after the checks."""

    @abstractmethod
    def take(self, active: ResourceManager) -> None:
        """Makes the active ResourceManager lose its role."""

    @abstractmethod
    def give_back(self, former: ResourceManager) -> None:
        """Begins what makes it a standby."""


class Killed(Way):
    name = "kill -9"

    def take(self, active: ResourceManager) -> None:
        active.daemon.kill()

    def give_back(self, former: ResourceManager) -> None:
        former.begin_start()


class Suspended(Way):
    """It wakes as one that believes to be active, while nodes still wait for its answers."""

    name = "kill -STOP"
    loses_session = True
    returns_first = True

    def take(self, active: ResourceManager) -> None:
        os.kill(active.daemon.pid, signal.SIGSTOP)

    def give_back(self, former: ResourceManager) -> None:
        os.kill(former.daemon.pid, signal.SIGCONT)


class Stopped(Way):
    name = "kill -TERM"

    def take(self, active: ResourceManager) -> None:
        active.daemon.ask_to_stop()

    def give_back(self, former: ResourceManager) -> None:
        ended = f"{former.identifier} to end"
        wait_until(lambda: not former.daemon.running(), ended, END_SECONDS)
        former.begin_start()


class CutOff(Way):
    """It runs on and cannot reach ZooKeeper."""

    name = "ZooKeeper cut"
    loses_session = True

    def __init__(self, links: Mapping[str, Link]) -> None:
        """The link of each ResourceManager, by its identifier."""
        self._links = links

    def take(self, active: ResourceManager) -> None:
        self._links[str(active.identifier)].cut()

    def give_back(self, former: ResourceManager) -> None:
        self._links[str(former.identifier)].mend()


def in_turn(links: Mapping[str, Link]) -> list[Way]:
    return [Killed(), Suspended(), Stopped(), CutOff(links)]
