"""The live page on a real cluster, in a browser: each view shows what REST says."""

from __future__ import annotations

import re
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
from .page_reading import (
    chart_name,
    check_console,
    container_name,
    mebibytes,
    open_anew,
    row_of,
    texts_of,
)
from .pictures import WIDTH, check_filled, most_pixels, picture_name, pictures_folder
from .rest_submission import submit_viewable

CONTAINER_MB = 512
CONTAINERS = 3
MASTER_MB = 256
# Half of what is planned, so that neither can be taken for the other.
HELD_MB = 256
# The shells and pipes of the command that holds it.
BESIDE_MB = 40
# More than the nodes have room for, however far they are raised.
MANY = 60
WAIT_SECONDS = 60.0
WIDTHS = (WIDTH, 500)
SCHEMES = ("light", "dark")
# Written as HTML, its tag would not be seen. The quotes are for the shell that starts the
# application master with this argument; there is no slash, as the name becomes a folder's.
HOSTILE = "'<b>asleep'"
MANY_NAME = "many-asleep"
SHARED_NAME = "shared-by-its-owner"
# The web server takes a caller without a name for Hadoop's static user.
NAMELESS = "dr.who"
OWNER = "root"
COLLEAGUE = "a-colleague"
QUEUE_ADMINISTRATOR = "a-queue-administrator"
# Both make all callers of the other tests administrators, and the last two none.
ACCESS = {
    "yarn.acl.enable": True,
    "yarn.admin.acl": f"{OWNER},{NAMELESS}",
    # One application's master only sleeps.
    "yarn.am.liveness-monitor.expiry-interval-ms": 3_600_000,
}
QUEUE_ACCESS = {
    "yarn.scheduler.capacity.root.acl_administer_queue": OWNER,
    "yarn.scheduler.capacity.root.default.acl_administer_queue": QUEUE_ADMINISTRATOR,
}


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    cluster = start_cluster(resource_manager=ACCESS, capacity_scheduler=QUEUE_ACCESS)
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
    sleepers = Sleepers(
        HOSTILE,
        CONTAINERS,
        CONTAINER_MB,
        until.pid,
        master_memory_mb=MASTER_MB,
        held_mb=HELD_MB,
    )
    application = shell.submit(sleepers)
    wait_containers(cluster, application, CONTAINERS + 1, WAIT_SECONDS)
    wait_all_measured(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def shared(cluster: Cluster, running: str, until: Alarm) -> str:
    """An application that COLLEAGUE may view, with one container that runs and was measured."""
    application = submit_viewable(
        cluster.resource_manager,
        OWNER,
        COLLEAGUE,
        SHARED_NAME,
        f"tail --pid={until.pid} -f /dev/null",
    )
    wait_containers(cluster, application, 1, WAIT_SECONDS)
    wait_all_measured(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def waiting(
    cluster: Cluster, running: str, shared: str, until: Alarm, work: Path, checkout: Checkout
) -> str:
    """An application that waits for containers, beside those that run."""
    shell = DistributedShell(cluster.resource_manager, work, checkout)
    application = shell.submit(Sleepers(MANY_NAME, MANY, CONTAINER_MB, until.pid))
    # Until its master has asked, it waits for the master alone, and then for nothing.
    wait_containers(cluster, application, 2, WAIT_SECONDS)
    wait_waiting(cluster, application, WAIT_SECONDS)
    return application


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """The window, whose console has to stay free of errors. Its caller has no name."""
    window.resize(WIDTHS[0])
    window.log_out()
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


@pytest.mark.parametrize("view", ["node", "application"])
def test_a_container_has_the_memory_that_it_holds(
    browser: Browser, page: str, running: str, container: dict[str, Any], view: str
) -> None:
    browser.open(f"{page}{views(container['node'], running)[view]}")

    def row_as_held() -> dict[str, str]:
        row = row_of(browser, "main section:nth-of-type(2)", container["container"])
        used_mb = mebibytes(row.get("Used memory", ""))
        return row if HELD_MB <= used_mb <= HELD_MB + BESIDE_MB else {}

    row = browser.wait(row_as_held, f"{HELD_MB} MiB used", WAIT_SECONDS)
    assert row["Requested"] == f"{CONTAINER_MB} MiB, 1 vcore"
    # No profile is known yet.
    assert (row["Planned memory"], row["Planned by"]) == (f"{CONTAINER_MB} MiB", "its request")


def test_nodes_and_cluster_have_the_memory_that_is_held(
    browser: Browser, cluster: Cluster, page: str, running: str
) -> None:
    """Before the other applications run."""
    least_mb = CONTAINERS * HELD_MB
    most_mb = CONTAINERS * (HELD_MB + BESIDE_MB) + MASTER_MB
    nodes = [one["node"] for one in cluster.resource_manager.node_sizes()]

    def is_on_nodes() -> bool:
        rows = [row_of(browser, "main", node) for node in nodes]
        used_mb = sum(mebibytes(row.get("Used memory", "")) for row in rows)
        return least_mb <= used_mb <= most_mb

    def is_on_cluster() -> bool:
        told = re.search(r"Latest: physical.*, used ([\d.,]+ GiB)", browser.text("main figure"))
        return told is not None and least_mb <= mebibytes(told[1]) <= most_mb

    browser.open(f"{page}#nodes")
    browser.wait(is_on_nodes, f"{least_mb} to {most_mb} MiB used", WAIT_SECONDS)
    browser.open(f"{page}#cluster")
    browser.wait(is_on_cluster, f"{least_mb} to {most_mb} MiB used", WAIT_SECONDS)


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
    # What is planned of one that sleeps stays.
    planned_mib = round(container["planned"]["memory_bytes"] / (1 << 20))
    assert f"{CONTAINER_MB} MiB, 1 vcore {planned_mib} MiB " in shown
    browser.wait_text("main", "CPU weight", "since no profile counts for it")


def test_applications_wait_and_run(
    browser: Browser, cluster: Cluster, page: str, running: str, waiting: str
) -> None:
    browser.open(f"{page}#applications")
    shown = browser.wait_text("main", running, waiting)
    # The name is text, not HTML.
    assert HOSTILE in shown
    assert browser.find("main td b") == []

    def is_reason_shown() -> bool:
        found = cluster.resource_manager.elastane_rest("applications?state=waiting")
        listed = {one["application"]: one["waiting"] for one in found["applications"]}
        why = listed.get(waiting)
        if why is None:
            return False
        reason = why["capacity_scheduler_says"] or why["reason"]
        return reason in browser.text("main section:nth-of-type(1)")

    # The reason changes, and the page asks every 5 s.
    browser.wait(is_reason_shown, "the reason that REST gives")
    row = row_of(browser, "main section:nth-of-type(2)", running)
    assert row["Containers"] == row["Booked vcores"] == str(CONTAINERS + 1)
    assert mebibytes(row["Booked memory"]) == CONTAINERS * CONTAINER_MB + MASTER_MB
    browser.find("main input[type=search]")[0].send_keys(MANY_NAME)
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
    shown = browser.wait_text("main", "1 loaded")
    assert len(browser.find("main tbody tr")) == 1
    assert f"requests {CONTAINER_MB} MiB, 1 vcore" in shown


def test_what_is_not_there_is_said(browser: Browser, page: str, running: str) -> None:
    browser.open(f"{page}#applications/application_1_0001")
    browser.wait_text("#errors", "v1/applications/application_1_0001")
    check_console(browser, 404)


def test_the_page_shows_only_applications_that_its_caller_may_view(
    browser: Browser, cluster: Cluster, page: str, running: str, waiting: str, shared: str
) -> None:
    manager = cluster.resource_manager
    hidden = (running, waiting)
    # HTML writes the rest of the hostile name differently.
    texts = texts_of(running, "asleep") | texts_of(waiting, MANY_NAME)
    allowed = texts_of(shared, SHARED_NAME)
    node = manager.elastane_rest(f"applications/{shared}")["containers"][0]["node"]
    nodes = [f"#nodes/{one['node']}" for one in manager.node_sizes()]
    placed = "#decisions?kind=placed"
    all_views = {*views(node, shared).values(), *nodes, placed}

    def found(view: str) -> set[str]:
        open_anew(browser, f"{page}{view}")
        return {text for text in texts | allowed if text in browser.content()}

    def is_in_chart() -> bool:
        return any(chart_name(one) in browser.content() for one in hidden)

    # An administrator sees the texts, so that each view would show them to the colleague too.
    assert found("#applications") >= {*hidden, "asleep", MANY_NAME, shared, SHARED_NAME}
    assert found(f"#applications/{running}") >= {running, "asleep", container_name(running)}
    assert found(placed) >= {running, container_name(running), shared}
    for view in nodes:
        on_node = found(view)
        assert any({one, container_name(one)} <= on_node for one in hidden)
        browser.wait(is_in_chart, "a container in the chart", WAIT_SECONDS)

    browser.log_in(page, COLLEAGUE)
    seen = {view: found(view) for view in all_views}
    assert {view: some & texts for view, some in seen.items() if some & texts} == {}
    for view in ("#applications", f"#applications/{shared}"):
        assert seen[view] >= {shared, SHARED_NAME}
    for view in (f"#nodes/{node}", placed):
        assert seen[view] >= {shared, container_name(shared)}
    for application in hidden:
        assert found(f"#decisions?application={application}") == set()
        assert browser.find("main tbody tr") == []
        browser.open(f"{page}#applications/{application}")
        browser.wait_text("#errors", "or you may not see it")
        # The id is in the address.
        assert {text for text in texts if text in browser.content()} == {application}
        assert browser.find("main tbody tr") == []
    check_console(browser, 403, 404)


def test_who_administers_a_queue_sees_its_applications(
    browser: Browser, page: str, running: str, waiting: str, shared: str
) -> None:
    browser.log_in(page, QUEUE_ADMINISTRATOR)
    open_anew(browser, f"{page}#applications")
    assert "that you may not see" not in browser.wait_text("main", running, waiting, shared)
    # Profiles are for administrators of YARN.
    check_console(browser, 403)


def test_the_page_counts_applications_that_its_caller_may_not_view(
    browser: Browser, cluster: Cluster, page: str, running: str, waiting: str, shared: str
) -> None:
    manager = cluster.resource_manager
    node = manager.elastane_rest(f"applications/{shared}")["containers"][0]["node"]

    def are_containers_counted() -> bool:
        containers = manager.elastane_rest(f"nodes/{node}")["containers"]
        others = sum(one["application"] != shared for one in containers)
        return f"And {others} container" in browser.text("main")

    def is_cluster_counted() -> bool:
        containers = manager.status()["containers"]
        shown = browser.text("main")
        return f"Containers\n{containers}\n" in shown and "Waiting\n1 application\n" in shown

    browser.log_in(page, COLLEAGUE)
    open_anew(browser, f"{page}#applications")
    one = "And 1 application that you may not see."
    # One waits, and one runs.
    browser.wait(lambda: browser.text("main").count(one) == 2, "the numbers of the hidden ones")
    open_anew(browser, f"{page}#nodes/{node}")
    browser.wait(are_containers_counted, "the number of containers that REST gives")
    browser.wait_text("main figure", "Not visible to you", seconds=WAIT_SECONDS)
    open_anew(browser, f"{page}#cluster")
    browser.wait(is_cluster_counted, "the numbers that REST gives")
    browser.wait_text("main", "root.default", "enforce 3 ")
    check_console(browser, 403)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_view_fits_and_is_pictured(
    browser: Browser,
    page: str,
    checkout: Checkout,
    waiting: str,
    container: dict[str, Any],
    scheme: str,
    width: int,
) -> None:
    browser.resize(width)
    browser.prefer(scheme)
    for name, view in views(container["node"], waiting).items():
        open_anew(browser, f"{page}{view}")
        narrow = "" if width == WIDTHS[0] else f"-{width}"
        picture = pictures_folder(checkout) / picture_name(f"{name}{narrow}", scheme)
        browser.screenshot(picture, most_pixels(name))
        check_filled(browser, picture)
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(wide) <= 0, f"{name} scrolls sideways at {width} pixels"
        assert browser.text("#errors") == ""
