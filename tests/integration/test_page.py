"""The live page on a real cluster, in a browser: each view shows what REST says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.browser import Browser, views
from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout

from .alarm import Alarm, alarm
from .conftest import SHAPE, ClusterMaker
from .expectations import (
    wait_all_measured,
    wait_all_reporting,
    wait_containers,
    wait_waiting,
)

CONTAINER_MB = 512
CONTAINERS = 3
# More than the nodes have room for, however far they are raised.
MANY = 60
WAIT_SECONDS = 60.0
WIDTHS = (1400, 500)
SCHEMES = ("light", "dark")
# Written as HTML, its tag would not be seen. The quotes are for the shell that starts the
# application master with this argument; there is no slash, as the name becomes a folder's.
HOSTILE = "'<b>asleep'"


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    cluster = start_cluster()
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture(scope="module")
def until() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def running(cluster: Cluster, until: Alarm, work: Path, checkout: Checkout) -> str:
    """An application with a hostile name, whose containers all run and were measured."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers(HOSTILE, CONTAINERS, CONTAINER_MB, until.pid))
    wait_containers(cluster, application, CONTAINERS + 1, WAIT_SECONDS)
    wait_all_measured(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def waiting(cluster: Cluster, running: str, until: Alarm, work: Path, checkout: Checkout) -> str:
    """An application that waits for containers, beside the one that runs."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers("many", MANY, CONTAINER_MB, until.pid))
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """The window, whose console has to stay free of errors."""
    window.resize(WIDTHS[0])
    yield window
    assert window.errors() == []


@pytest.fixture(scope="module")
def page(cluster: Cluster) -> str:
    return f"{cluster.resource_manager.url}/elastane/"


@pytest.fixture(scope="module")
def container(cluster: Cluster, running: str) -> dict[str, Any]:
    """One of the containers that sleep."""
    application = cluster.resource_manager.elastane_rest(f"applications/{running}")
    return next(one for one in application["containers"] if not one["application_master"])


def test_the_address_without_a_slash_leads_to_the_page(
    browser: Browser, cluster: Cluster, page: str
) -> None:
    browser.open(f"{cluster.resource_manager.url}/elastane")
    browser.wait_text("h1", "Elastane")
    assert browser.run("return location.pathname") == "/elastane/"


def test_the_cluster_has_its_sizes(
    browser: Browser, cluster: Cluster, page: str, running: str, waiting: str
) -> None:
    browser.open(f"{page}#cluster")
    browser.wait_text("#updated", "Updated")
    shown = browser.wait_text("main", "enforce", "in service")
    assert "What was gained" in shown
    # Two nodes of 2 GiB. The history has its first point 10 s after the start.
    physical_gib = 2 * SHAPE.memory_mb // 1024
    told = browser.wait_text("main figure", f"physical {physical_gib} GiB", "used")
    assert "No history" not in told
    assert browser.find("main figure canvas") != []


def test_a_node_has_its_containers(
    browser: Browser, page: str, running: str, container: dict[str, Any]
) -> None:
    browser.open(f"{page}#nodes")
    browser.wait_text("main table", container["node"])
    assert "Heat map of 2 nodes" in browser.find("canvas[role=img]")[0].get_attribute("aria-label")
    link = next(one for one in browser.find("main tbody a") if one.text == container["node"])
    link.click()
    browser.wait_text("main h2", container["node"])
    shown = browser.wait_text("main", container["container"], running)
    assert f"{CONTAINER_MB} MiB, 1 vcore" in shown


def test_applications_wait_and_run(
    browser: Browser, cluster: Cluster, page: str, running: str, waiting: str
) -> None:
    browser.open(f"{page}#applications")
    shown = browser.wait_text("main", running, waiting)
    # The name is text, not HTML.
    assert HOSTILE in shown
    assert browser.find("main td b") == []

    def is_reason_shown() -> bool:
        found = cluster.resource_manager.elastane_rest(f"applications/{waiting}")
        why = found["waiting"]
        return why is not None and why["reason"] in browser.text("main section:nth-of-type(1)")

    # The reason changes, and the page asks every 5 s.
    browser.wait(is_reason_shown, "the reason that REST gives")
    browser.find("main input[type=search]")[0].send_keys("many")
    browser.wait(lambda: running not in browser.text("main"), "the filtered list")
    assert waiting in browser.text("main")


def test_an_application_has_its_containers_and_decisions(
    browser: Browser, page: str, running: str, container: dict[str, Any]
) -> None:
    browser.open(f"{page}#applications/{running}")
    shown = browser.wait_text("main", container["container"], container["node"], "placed")
    assert HOSTILE in shown
    assert f"in {CONTAINERS + 1} containers" in shown


def test_decisions_are_filtered(
    browser: Browser, page: str, running: str, container: dict[str, Any]
) -> None:
    browser.open(f"{page}#decisions?application={running}&kind=placed")
    browser.wait_text("main", container["container"])
    assert len(browser.find("main tbody tr")) == CONTAINERS + 1
    browser.open(f"{page}#decisions?container={container['container']}")
    browser.wait_text("main", "1 loaded")
    assert len(browser.find("main tbody tr")) == 1


def test_what_is_not_there_is_said(browser: Browser, page: str, running: str) -> None:
    browser.open(f"{page}#applications/application_1_0001")
    browser.wait_text("#errors", "v1/applications/application_1_0001")
    browser.open("about:blank")
    # Chromium writes each such answer to the console.
    errors = browser.errors()
    assert [error for error in errors if "status of 404" not in error] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_view_fits_and_is_pictured(
    browser: Browser,
    page: str,
    work: Path,
    running: str,
    waiting: str,
    container: dict[str, Any],
    scheme: str,
    width: int,
) -> None:
    browser.resize(width)
    browser.prefer(scheme)
    for name, view in views(container["node"], waiting).items():
        # Another page in between, so that the view is loaded anew.
        browser.open("about:blank")
        browser.open(f"{page}{view}")
        browser.wait_text("#updated", "Updated")
        browser.screenshot(work / f"{name}-{scheme}-{width}.png")
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(wide) <= 0, f"{name} scrolls sideways at {width} pixels"
        assert browser.text("#errors") == ""
