"""Two ResourceManagers, ZooKeeper, and applications that run through every switch."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from cluster.cluster import Cluster
from cluster.link import Link
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.spark import wait_ended
from cluster.waiting import wait_until
from cluster.zookeeper import ZooKeeper
from failover.checks import Checks
from failover.folder import ZOOKEEPER, renew
from failover.load import VISITOR_END_SECONDS, Visitors
from failover.record import Switch
from failover.setup import END_SECONDS, IDS, START_SECONDS, settings, start_steady
from failover.standby import allowed_hangs, wait_standby
from failover.views import Lost, require_known, wait_equal
from failover.ways import Way
from integration.expectations import (
    is_planned_by_profile,
    planned_on_nodes,
    wait_all_raised,
    wait_all_reporting,
)

PLAN_SECONDS = 60.0
# A client that began before the switch ends first; then one that began after it.
VISIT_SECONDS = 2 * VISITOR_END_SECONDS + 30.0
PROFILES = 2


class Bench:
    """A context manager."""

    def __init__(self, folder: Path, checkout: Checkout) -> None:
        self._folder = folder
        self._checkout = checkout
        self._stack = ExitStack()
        self._checks: Checks | None = None
        self._number = 0
        self._lost_sessions = 0
        self._hangs = 0
        self.links: dict[str, Link] = {}
        """Each ResourceManager's way to ZooKeeper, by its identifier."""

    def __enter__(self) -> Bench:
        with ExitStack() as stack:
            renew(self._folder)
            zookeeper = stack.enter_context(ZooKeeper(self._folder / ZOOKEEPER, self._checkout))
            self.links = {one: stack.enter_context(Link(zookeeper.port)) for one in IDS}
            wanted = settings(self._folder, self.links)
            self._cluster = stack.enter_context(Cluster(wanted, self._checkout))
            self._steady, self._end_of_steady = start_steady(
                self._cluster, self._folder, self._checkout, stack
            )
            first = self._cluster.resource_manager
            self._visitors = Visitors(first, wanted.work, self._checkout)
            self._checks = Checks(self._cluster, self._steady, self._visitors)
            stack.enter_context(self._visitors)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._visitors.abandon()
        self._stack.close()

    @property
    def counters(self) -> dict[str, int]:
        """The last ones that were read; none before the cluster has started."""
        return self._checks.counters if self._checks else {}

    def switch(self, way: Way) -> Switch:
        """Raises Lost or DeadlineMissed if a switch costs what it must not cost."""
        self._number += 1
        self._lost_sessions += way.loses_session
        self._end_of_steady.check()
        former = self._cluster.resource_manager
        self._checks.count(former)
        began = time.monotonic()

        def after(wait: Callable[[], object]) -> float:
            wait()
            return time.monotonic() - began

        way.take(former)
        active_s = after(lambda: self._wait_elected(former))
        active = self._cluster.resource_manager
        elected_at = time.monotonic()
        if way.returns_first:
            way.give_back(former)
        in_service_s = after(self._wait_in_service)
        same_view_s = after(lambda: wait_equal(self._cluster))
        survivors = self._checks.survivors()
        raised_s = after(self._wait_raised)
        if not way.returns_first:
            way.give_back(former)
        has_hung = wait_standby(former)
        if has_hung:
            former.daemon.kill()
            former.begin_start()
            if wait_standby(former):
                raise Lost(f"{former.identifier} hung again after its restart")
            self._hangs += 1
        standby_s = time.monotonic() - began
        self._wait_visitor(elected_at)
        wait_equal(self._cluster)
        self._checks.survivors()
        self._checks.applications()
        self._checks.logs()
        return Switch(
            number=self._number,
            way=way.name,
            former=str(former.identifier),
            active=str(active.identifier),
            active_s=active_s,
            in_service_s=in_service_s,
            same_view_s=same_view_s,
            raised_s=raised_s,
            standby_s=standby_s,
            has_hung=has_hung,
            containers_before=self._checks.containers,
            containers_after=survivors,
            visitors=self._visitors.ended,
        )

    def finish(self) -> int:
        """Lets all applications end, and checks that they ended well. Returns the number of short
        ones."""
        if self._hangs > allowed_hangs(self._lost_sessions):
            raise Lost(f"after {self._hangs} of {self._lost_sessions} lost sessions a standby hung")
        self._visitors.stop()
        self._end_of_steady.ring()
        manager = self._cluster.resource_manager
        for application in self._steady:
            require_known(manager, application)
            ended = wait_ended(manager, application, END_SECONDS)
            if ended["finalStatus"] != "SUCCEEDED":
                raise Lost(f"{application} ended {ended['finalStatus']}: {ended['diagnostics']}")
        wait_equal(self._cluster)
        self._checks.applications()
        self._checks.count(manager)
        return self._visitors.ended

    def _wait_elected(self, former: ResourceManager) -> None:
        self._cluster.resource_manager = self._cluster.wait_elected(former)

    def _wait_in_service(self) -> None:
        self._cluster.wait_registered()
        wait_until(
            lambda: self._cluster.resource_manager.status()["in_service"],
            "the core to be in service",
            START_SECONDS,
        )
        wait_all_reporting(self._cluster)

    def _wait_raised(self) -> None:
        """Waits until the new core has the profiles, and plans nodes and containers by them."""
        wait_all_raised(self._cluster)
        manager = self._cluster.resource_manager
        wait_until(lambda: manager.status()["profiles"] >= PROFILES, "all profiles", PLAN_SECONDS)
        for application in self._steady:
            wait_until(
                lambda one=application: all(
                    map(is_planned_by_profile, planned_on_nodes(manager, one))
                ),
                f"{application} to be planned by its profile",
                PLAN_SECONDS,
            )

    def _wait_visitor(self, elected_at: float) -> None:
        wait_until(
            lambda: self._visitors.failures or self._visitors.has_succeeded_since(elected_at),
            "a short application that began after the switch to succeed",
            VISIT_SECONDS,
        )
