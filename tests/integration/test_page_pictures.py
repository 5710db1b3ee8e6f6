"""The pictures in docs/page: each view of a real cluster that has worked for some minutes, whose
second night is planned by what the first used. `make page-pictures` takes them; the ordinary tests
only look at those that are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.support.select import Select

from cluster.browser import Browser, views
from cluster.distributed_shell import DistributedShell, holding
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.settings import NodeShape
from cluster.waiting import wait_until

from .conftest import ClusterMaker
from .expectations import wait_learned, wait_waiting
from .page_reading import mebibytes, open_anew, row_of
from .pictures import IN_DOCS, WIDTH, check_filled, most_pixels, picture_name, pictures_folder

SHAPE = NodeShape(memory_mb=4096, vcores=16, cpu_cores=2.0, disk_bytes_per_s=1_000_000_000)
HELD_MB = 200
# The shells and pipes of the command that holds it.
BESIDE_MB = 40
REQUESTED_MB = 1024
# The history has a step every 10 s, that of containers every 20 s; a nightly run takes 135 s.
PICTURED_AFTER_MS = 60_000
# Soon it ends: then a node is pictured on which nobody arrives next.
PICTURED_ANYWAY_AFTER_MS = 100_000
NIGHT_SECONDS = 300.0


@dataclass(frozen=True)
class Workers:
    """An application whose containers compute, rest and compute again."""

    name: str
    containers: int
    busy_seconds: int
    rest_seconds: int
    rounds: int
    memory_mb: int = REQUESTED_MB
    held_mb: int = HELD_MB
    queue: str = "default"
    master_memory_mb: int = 256
    node_label: str = ""
    tags: str = ""

    @property
    def command(self) -> str:
        busy = f"timeout {self.busy_seconds} md5sum /dev/zero; sleep {self.rest_seconds}"
        work = "; ".join([busy] * self.rounds)
        return holding(self.held_mb, f"({work}) > /dev/null")


NIGHT = (Workers("nightly-sales", 5, 20, 25, 3), Workers("sessions", 4, 5, 60, 2, held_mb=400))


@pytest.mark.pictures
def test_each_view_of_a_cluster_at_work_is_pictured(
    start_cluster: ClusterMaker, browser: Browser, work: Path, checkout: Checkout
) -> None:
    cluster = start_cluster(nodes=3, shape=SHAPE)
    manager = cluster.resource_manager
    shell = DistributedShell(manager, work, checkout)
    for application in [shell.submit(one) for one in NIGHT]:
        wait_until(lambda it=application: _is_ended(manager, it), "the first night", NIGHT_SECONDS)
        wait_learned(cluster.settings.elastane.journal, application)
    nightly, *_ = [shell.submit(one) for one in NIGHT]
    *_, ad_hoc = [shell.submit(Workers(f"ad-hoc-{part}", 5, 30, 10, 6)) for part in "abc"]
    wait_waiting(cluster, ad_hoc, NIGHT_SECONDS)
    container = wait_until(lambda: _planned(manager, nightly), "a worker", NIGHT_SECONDS)

    page = f"{manager.url}/elastane/"
    addresses = views(container["node"], ad_hoc)
    browser.resize(WIDTH)
    for view, scheme in IN_DOCS:
        browser.prefer(scheme)
        open_anew(browser, f"{page}{addresses[view]}")
        if view == "node":
            _choose(browser, container["container"])
        picture = pictures_folder(checkout) / picture_name(view, scheme)
        browser.screenshot(picture, most_pixels(view))
        if view == "node":
            _check_known(row_of(browser, "main section:nth-of-type(2)", container["container"]))
    assert browser.errors() == []
    # Not before all are taken, as the night ends.
    for one in IN_DOCS:
        check_filled(browser, pictures_folder(checkout) / picture_name(*one))


def test_the_docs_have_each_view(browser: Browser, checkout: Checkout) -> None:
    there = sorted((checkout.root / "docs" / "page").iterdir())
    assert [one.name for one in there] == sorted(picture_name(*one) for one in IN_DOCS)
    for file in there:
        check_filled(browser, file)


def _check_known(row: dict[str, str]) -> None:
    """Of one of the nightly workers."""
    assert HELD_MB <= mebibytes(row["Used memory"]) <= HELD_MB + BESIDE_MB
    assert HELD_MB <= mebibytes(row["Planned memory"]) < REQUESTED_MB
    assert "nightly-sales" in row["Planned by"]


def _planned(manager: ResourceManager, application: str) -> dict[str, Any] | None:
    """One of its workers that has run for a while, planned by a profile, whose limits have changed,
    and on whose node the next one arrives if there is such a node in time."""
    containers = manager.elastane_rest(f"applications/{application}")["containers"]
    workers = [
        one
        for one in containers
        if not one["application_master"]
        and one["profile"] is not None
        and one["running_for_ms"] >= PICTURED_AFTER_MS
        and one["limit_changes"]
    ]
    for one in workers:
        is_last_moment = one["running_for_ms"] >= PICTURED_ANYWAY_AFTER_MS
        if is_last_moment or manager.elastane_rest(f"nodes/{one['node']}")["arrivals"]:
            return one
    return None


def _choose(browser: Browser, container: str) -> None:
    """Has the charts of a node's container drawn."""
    within = "main section:nth-of-type(3)"
    Select(browser.find(f"{within} select")[0]).select_by_value(container)
    browser.wait_text(f"{within} figure", "Latest: used")


def _is_ended(manager: ResourceManager, application: str) -> bool:
    return manager.application(application)["state"] == "FINISHED"
