"""An application whose input grew is given windows, and harms no other application."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cluster.browser import Browser
from cluster.cgroups import CannotHold, check_can_hold
from cluster.cluster import Cluster
from cluster.journal import records
from cluster.paths import Checkout
from cluster.spark import Submitter
from cluster.waiting import wait_until
from reprovisioning.run import check_unharmed, ended_well, start_beside, teach
from reprovisioning.scenario import NODES, Signing, cluster_settings

from .conftest import ClusterMaker
from .expectations import executors, measured

BATCHES = 8
# In a run this short, growth by half shows too late: docs/measurements/reprovisioning.md.
GROWTH = 2.5
# Few enough that the grown demand stays below the node's cores.
LEARNED_LINES = 300
SLOW_FROM = 1.1
EVERY_MS = 20_000
SAID_SECONDS = 30.0


def _why_not() -> str:
    try:
        check_can_hold()
    except CannotHold as reason:
        return str(reason)
    return ""


pytestmark = [
    pytest.mark.reprovisioning,
    pytest.mark.skipif(bool(_why_not()), reason=_why_not()),
]


@dataclass(frozen=True)
class Window:
    """The journal's records of the run."""

    opened: dict[str, Any]
    closed: dict[str, Any]

    @property
    def container(self) -> str:
        return self.opened["container"]


@dataclass(frozen=True)
class Seen:
    """The grown application's run."""

    cluster: Cluster
    journal: Path
    beside: str
    grown: str
    windows: list[Window]
    """Of its executors, in the order in which they ended."""

    def caps(self, container: str) -> list[tuple[int, float]]:
        """The times and values of a container's CPU cap in the agent's audit."""
        audited = (one for agent in self.cluster.agents for one in agent.audited(container))
        caps = ((one["unix_ms"], one.get("plan", {}).get("cpu_cap_cores")) for one in audited)
        return [(unix_ms, cap) for unix_ms, cap in caps if cap is not None]


@pytest.fixture(scope="module")
def seen(start_cluster: ClusterMaker, work: Path, checkout: Checkout) -> Seen:
    journal = work / "journal.jsonl"
    wanted = cluster_settings(work, work / "depository.sqlite", journal, "on", margin=0.0)
    assert wanted.elastane is not None
    extra = {**wanted.elastane.extra, "reprovision.every-ms": EVERY_MS}
    cluster = start_cluster(
        nodes=wanted.nodes,
        shape=wanted.shape,
        hold_nodes=True,
        elastane=replace(wanted.elastane, extra=extra),
    )
    signing = Signing(work / "input", checkout, BATCHES, GROWTH, LEARNED_LINES)
    signing.make_input()
    with Submitter(cluster.resource_manager, work, checkout) as submitter:
        beside = start_beside(submitter, signing, journal)
        teach(cluster, submitter, signing, journal, runs=1)
        grown = submitter.submit(signing.grown())
        ended_well(cluster, grown)
    check_unharmed(cluster, beside, journal)
    containers = executors(journal, grown)
    # A window that ends with its container is recorded at the node's next report.
    wait_until(
        lambda: not _windows(journal, containers)[1],
        f"{journal} to say how each window ended",
        SAID_SECONDS,
    )
    return Seen(cluster, journal, beside, grown, _windows(journal, containers)[0])


def _windows(journal: Path, containers: list[str]) -> tuple[list[Window], list[str]]:
    """The windows in the order of their ends, and the containers with an open window."""
    opened: dict[str, dict[str, Any]] = {}
    windows = []
    for one in records(journal, "reprovision"):
        if one["container"] not in containers:
            continue
        if one["what"] == "opened":
            opened[one["container"]] = one
        elif one["what"] in ("measured", "returned"):
            windows.append(Window(opened.pop(one["container"]), one))
    return windows, list(opened)


def test_a_slow_executor_has_a_window_and_then_it_is_known_why(seen: Seen) -> None:
    assert seen.windows
    for window in seen.windows:
        assert window.opened["slowness"] > SLOW_FROM
        assert window.opened["lent"]["cpu_cores"] > 0
        closed = window.closed
        if closed["what"] == "measured":
            assert closed["used"]["cpu_cores"] > 0
            assert closed["factors"][0] >= 1
        else:
            assert closed["reason"]
    manager = seen.cluster.resource_manager
    wait_until(
        lambda: manager.counters()["ReprovisionWindows"] >= len(seen.windows),
        "the windows to be counted",
        SAID_SECONDS,
    )


def test_rest_and_the_page_have_the_windows_in_words(seen: Seen, browser: Browser) -> None:
    manager = seen.cluster.resource_manager
    wanted = f"application={seen.grown}&kind=reprovision"
    found = manager.elastane_rest(f"decisions?{wanted}&limit=1000")["decisions"]
    assert {one["kind"] for one in found} == {"reprovision"}
    shown = [{key: one[key] for key in one if key != "number"} for one in found]
    for window in seen.windows:
        assert window.opened in shown
        # It names no application if the window ended after the application.
        assert window.closed in shown or not window.closed["application"]
    opened = next(one for one in found if one["what"] == "opened")
    assert opened["slow"] in ("behind", "throttled")
    browser.open(f"{manager.url}/elastane/#decisions?{wanted}")
    browser.wait_text("main tbody", f"opened; {opened['slow']}; slowness ")
    assert opened["container"] in browser.content()
    assert browser.errors() == []


def test_its_limit_rises_for_the_window_and_the_rest_is_returned(seen: Seen) -> None:
    # A window that ends with its container closes at the time of its opening.
    lasted = [one for one in seen.windows if one.closed["time_ms"] > one.opened["time_ms"]]
    assert lasted
    for window in lasted:
        caps = seen.caps(window.container)
        opened_ms, closed_ms = window.opened["time_ms"], window.closed["time_ms"]
        whole = window.opened["predicted"]["cpu_cores"] + window.opened["lent"]["cpu_cores"]
        before = [cap for unix_ms, cap in caps if unix_ms < opened_ms]
        within = [cap for unix_ms, cap in caps if opened_ms <= unix_ms < closed_ms]
        after = [cap for unix_ms, cap in caps if unix_ms >= closed_ms]
        # More if the demand of the next 3 s is higher.
        assert max(within) >= 0.99 * whole
        assert before[-1] < max(within)
        assert after[0] < max(within)


def test_no_container_has_a_window_too_soon_again_and_no_node_two_at_a_time(seen: Seen) -> None:
    for container in {window.container for window in seen.windows}:
        opened = [one.opened["time_ms"] for one in seen.windows if one.container == container]
        assert all(later - earlier >= EVERY_MS for earlier, later in pairwise(opened))
    said = [
        one
        for one in records(seen.journal, "reprovision")
        if one["what"] in ("opened", "measured", "returned")
    ]
    for node in {one["node"] for one in said}:
        on_node = [one["what"] == "opened" for one in said if one["node"] == node]
        assert on_node == [True, False] * (len(on_node) // 2)


def test_those_beside_it_are_neither_capped_nor_lost(seen: Seen) -> None:
    beside = executors(seen.journal, seen.beside)
    assert len(beside) == NODES
    for container in beside:
        reports = measured(seen.journal, container)
        assert {report["limit_cap_cores"] for report in reports} == {None}
    assert not list(records(seen.journal, "preemption"))
