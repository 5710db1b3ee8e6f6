"""The live page on a real cluster that has learned an application, of which one run works and the
next one waits for its end; and the page without a pointer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from cluster.browser import Browser, views
from cluster.cluster import Cluster
from cluster.distributed_shell import DistributedShell, Sleepers
from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.spark import wait_ended
from cluster.waiting import wait_until

from .alarm import Alarm, alarm
from .conftest import ClusterMaker
from .expectations import wait_all_reporting, wait_learned
from .page_reading import mebibytes, open_anew, row_of
from .page_told import (
    FALLBACKS,
    cpu_weight,
    is_gain_told,
    is_start_told,
    is_use_told,
    is_weight_told,
)
from .page_walk import press, tab_to, walk

NAME = "nightly"
CONTAINERS = 3
# Of one that ends at once, so that there is progress.
PROGRESS = "33 %"
CONTAINER_MB = 1024
# A node of 2048 MB has no room for two of them.
HELD_MB = 900
WAIT_SECONDS = 120.0
WAITING = "main section:nth-of-type(1)"
RUNNING = "main section:nth-of-type(2)"
PROFILES = "main section:nth-of-type(3)"
ONE_CONTAINER = "main section:nth-of-type(3)"
ARRIVALS = "main section:nth-of-type(4)"
LIMIT_CHANGES = "main section:nth-of-type(6)"

LIMIT_NAMES = {
    "cpu_weight_cores": "CPU weight",
    "cpu_cap_cores": "CPU cap",
    "memory_bytes": "memory",
    "disk_cap_bytes_per_s": "disk cap",
    "network_weight_bytes_per_s": "network weight",
    "network_cap_bytes_per_s": "network cap",
}


class Nightly(Sleepers):
    """The first of its containers ends at once."""

    @property
    def command(self) -> str:
        return f"case $CONTAINER_ID in *_000002) exit 0;; esac; {super().command}"


@pytest.fixture(scope="module")
def cluster(start_cluster: ClusterMaker) -> Cluster:
    # What else runs on this machine would leave the nodes no room.
    cluster = start_cluster(own_memory=True)
    wait_all_reporting(cluster)
    return cluster


@pytest.fixture(scope="module")
def until() -> Iterator[Alarm]:
    """Ends the second run."""
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def never() -> Iterator[Alarm]:
    with alarm() as one:
        yield one


@pytest.fixture(scope="module")
def shell(cluster: Cluster, work: Path, checkout: Checkout) -> DistributedShell:
    return DistributedShell(cluster.resource_manager, work, checkout)


@pytest.fixture(scope="module")
def running(cluster: Cluster, shell: DistributedShell, until: Alarm, work: Path) -> str:
    """The second run, whose containers were planned by the first one."""
    journal = work / "journal.jsonl"
    with alarm() as end:
        lesson = shell.submit(_nightly(end))
        _wait_held(cluster, lesson)
    ended = wait_ended(cluster.resource_manager, lesson, WAIT_SECONDS)
    assert ended["finalStatus"] == "SUCCEEDED"
    wait_learned(journal, lesson)
    application = shell.submit(_nightly(until))
    _wait_held(cluster, application)
    return application


@pytest.fixture(scope="module")
def following(cluster: Cluster, shell: DistributedShell, running: str, never: Alarm) -> str:
    """The third run, which is planned to start on a node once containers of the second one end."""
    application = shell.submit(_nightly(never))
    wait_until(
        lambda: _planned_start(cluster.resource_manager, application),
        f"a planned start of {application}",
        WAIT_SECONDS,
    )
    return application


@pytest.fixture(scope="module")
def page(cluster: Cluster) -> str:
    return f"{cluster.resource_manager.url}/elastane/"


def test_who_runs_has_progress_and_a_predicted_end(
    browser: Browser, cluster: Cluster, page: str, running: str
) -> None:
    open_anew(browser, f"{page}#applications")

    def in_progress() -> dict[str, str]:
        row = row_of(browser, RUNNING, running)
        return row if row.get("Progress") == PROGRESS else {}

    row = browser.wait(in_progress, f"{PROGRESS} of {running}")
    # One has ended, and the application master runs.
    assert row["Containers"] == str(CONTAINERS)
    assert ", with a probability of 80 % between " in row["Expected end"]
    assert row["Expected end"].endswith(", by 1 earlier run")
    end = cluster.resource_manager.elastane_rest(f"applications/{running}")["predicted_end"]
    assert end["earliest_ms"] < end["at_ms"] < end["latest_ms"]
    assert browser.errors() == []


def test_who_waits_has_its_expected_start(
    browser: Browser, cluster: Cluster, page: str, following: str
) -> None:
    open_anew(browser, f"{page}#applications")

    def is_told() -> bool:
        waiting = cluster.resource_manager.elastane_rest(f"applications/{following}")["waiting"]
        cell = row_of(browser, WAITING, following).get("Expected start", "")
        return is_start_told(cell, waiting and waiting["expected_start"])

    browser.wait(is_told, f"the expected start of {following} that REST gives", WAIT_SECONDS)
    assert browser.errors() == []


def test_what_was_gained_and_what_fell_back_are_the_numbers_of_rest(
    browser: Browser, cluster: Cluster, page: str, running: str
) -> None:
    manager = cluster.resource_manager
    open_anew(browser, f"{page}#cluster")

    def is_told() -> bool:
        sizes, status = manager.elastane_rest("sizes")["cluster"], manager.status()
        told = {what: row_of(browser, "main", what).get("Number", "0") for what in FALLBACKS}
        fell_back = {what: f"{status[field]:,}" for what, field in FALLBACKS.items()}
        gain = is_gain_told(browser.text("main"), sizes, status["containers"])
        return gain and told == fell_back

    browser.wait(is_told, "the gain and the fallbacks that REST gives", WAIT_SECONDS)
    assert browser.errors() == []


def test_one_container_has_what_it_used_beside_its_plan_and_limit(
    browser: Browser, cluster: Cluster, page: str, running: str
) -> None:
    def workers() -> list[dict[str, Any]]:
        found = cluster.resource_manager.elastane_rest(f"applications/{running}")["containers"]
        return [one for one in found if not one["application_master"] and cpu_weight(one)]

    first, *_ = wait_until(workers, f"a CPU weight of {running}", WAIT_SECONDS)
    chosen = first["container"]
    open_anew(browser, f"{page}#nodes/{first['node']}")
    option = f"{ONE_CONTAINER} option[value='{chosen}']"
    browser.wait(lambda: browser.find(option), f"{chosen} to choose", WAIT_SECONDS)
    Select(browser.find(f"{ONE_CONTAINER} select")[0]).select_by_value(chosen)

    def is_told() -> bool:
        weights = {one["container"]: cpu_weight(one) for one in workers()}
        memory, cpu, *_ = [one.text for one in browser.find(f"{ONE_CONTAINER} figure")]
        return is_use_told(memory, HELD_MB) and is_weight_told(cpu, weights.get(chosen) or 0)

    browser.wait(is_told, "the memory that it holds and the weight that REST gives", WAIT_SECONDS)
    assert browser.errors() == []


def test_a_node_tells_who_arrives_next(
    browser: Browser, cluster: Cluster, page: str, following: str
) -> None:
    def arrival() -> dict[str, str]:
        start = _planned_start(cluster.resource_manager, following)
        if start is None:
            return {}
        address = f"{page}#nodes/{start['node']}"
        if browser.driver.current_url != address:
            open_anew(browser, address)
        return row_of(browser, ARRIVALS, following)

    row = browser.wait(arrival, f"{following} on the page of the node of its planned start")
    assert row["Name"] == NAME
    assert row["In"]
    assert "Who arrives next" in browser.text(ARRIVALS)
    assert browser.errors() == []


def test_a_node_tells_why_the_limits_of_its_containers_changed(
    browser: Browser, cluster: Cluster, page: str, running: str
) -> None:
    manager = cluster.resource_manager

    def changed() -> dict[str, Any]:
        containers = manager.elastane_rest(f"applications/{running}")["containers"]
        return next((one for one in containers if one["limit_changes"]), {})

    one = wait_until(changed, f"a change of a limit of {running}", WAIT_SECONDS)
    open_anew(browser, f"{page}#nodes/{one['node']}")

    def told() -> tuple[dict[str, str], dict[str, Any]] | None:
        containers = manager.elastane_rest(f"nodes/{one['node']}")["containers"]
        known = next(it for it in containers if it["container"] == one["container"])
        newest = known["limit_changes"][0]
        row = row_of(browser, LIMIT_CHANGES, one["container"])
        return (row, newest) if row.get("Why it changed") == newest["why"] else None

    row, newest = browser.wait(told, f"why a limit of {one['container']} changed")
    assert row["Time"]
    assert LIMIT_NAMES[newest["limit"]] == row["Limit"]
    assert (row["From"] == "no limit") == (newest["from"] is None)
    assert (row["To"] == "no limit") == (newest["to"] is None)
    assert browser.text(f"{LIMIT_CHANGES} h2") == "Changes of limits"
    assert browser.errors() == []


@pytest.mark.parametrize("view", ["cluster", "nodes", "node", "applications", "application"])
def test_the_tabulator_key_reaches_all_that_a_view_has(
    browser: Browser, cluster: Cluster, page: str, running: str, following: str, view: str
) -> None:
    node = cluster.node_managers[0].node_id
    open_anew(browser, f"{page}{views(node, running)[view]}")
    stops = walk(browser)
    assert [one for one in stops if not (one.is_marked and one.is_in_view)] == []


def test_the_tabulator_key_reaches_all_decisions(browser: Browser, page: str, running: str) -> None:
    # Without a filter, new ones would arrive on the way.
    open_anew(browser, f"{page}#decisions?application={running}&kind=placed")
    stops = walk(browser)
    assert [one for one in stops if not (one.is_marked and one.is_in_view)] == []
    assert f"#applications/{running}" in [one.href for one in stops]


def test_a_node_is_opened_from_the_heat_map_by_keys(
    browser: Browser, cluster: Cluster, page: str, following: str
) -> None:
    first, second = sorted(one.node_id for one in cluster.node_managers)
    open_anew(browser, f"{page}#cluster")
    tab_to(browser, "nav a[href='#nodes']")
    press(browser, Keys.ENTER)
    browser.wait_text("main table", first, second)
    tab_to(browser, ".heat")
    assert browser.text(".told").startswith(f"{first}: used CPU")
    press(browser, Keys.ARROW_RIGHT)
    assert browser.text(".told").startswith(f"{second}: used CPU")
    press(browser, Keys.ENTER)
    browser.wait_text("main h2", f"Node {second}")
    # The next stop is in the new view.
    press(browser, Keys.TAB)
    assert browser.run("return document.querySelector('main').contains(document.activeElement)")
    assert browser.errors() == []


def test_applications_are_filtered_ordered_and_opened_by_keys(
    browser: Browser, page: str, running: str, following: str
) -> None:
    open_anew(browser, f"{page}#applications")
    press(browser, Keys.TAB)
    press(browser, Keys.ENTER)
    # The link at the top leaves out the other views.
    press(browser, Keys.TAB)
    assert browser.run("return document.activeElement.type") == "search"
    press(browser, running)
    browser.wait(lambda: following not in browser.text("main"), "the filtered list")
    tab_to(browser, f"{RUNNING} th:nth-of-type(2) button")
    press(browser, Keys.SPACE)
    sorted_by = browser.find(f"{RUNNING} th[aria-sort]")
    assert [one.text.split()[0] for one in sorted_by] == ["Name"]
    tab_to(browser, f"{RUNNING} tbody a")
    press(browser, Keys.ENTER)
    browser.wait_text("main h2", f"Application {running}")
    assert browser.errors() == []


def test_a_profile_has_its_runs_and_confidence(
    browser: Browser, cluster: Cluster, page: str, running: str, until: Alarm, work: Path
) -> None:
    manager = cluster.resource_manager
    # A page of the run would complain when it is gone.
    browser.open("about:blank")
    until.ring()
    assert wait_ended(manager, running, WAIT_SECONDS)["finalStatus"] == "SUCCEEDED"
    wait_learned(work / "journal.jsonl", running)

    def after_two_runs() -> list[dict[str, Any]]:
        profiles = manager.elastane_rest("profiles")["profiles"]
        return [one for one in profiles if one["profile"].endswith(NAME) and one["runs"] == 2]

    (profile,) = wait_until(after_two_runs, f"the profile of two runs of {NAME}", WAIT_SECONDS)
    kind = next(one for one in profile["kinds"] if one["kind"] == "executor")
    open_anew(browser, f"{page}#applications")
    row = row_of(browser, PROFILES, "executor")
    assert profile["profile"] in row["Profile"]
    assert row["Runs"] == "2"
    assert 0 < float(row["Confidence"]) == pytest.approx(kind["confidence"], abs=0.005)
    assert HELD_MB <= mebibytes(row["Peak memory"]) <= CONTAINER_MB
    assert browser.errors() == []


def _nightly(until: Alarm) -> Nightly:
    return Nightly(NAME, CONTAINERS, CONTAINER_MB, until.pid, held_mb=HELD_MB)


def _wait_held(cluster: Cluster, application: str) -> None:
    """Waits until all containers but the first one have been measured with what they hold."""

    def is_held() -> bool:
        found = cluster.resource_manager.elastane_rest(f"applications/{application}")
        measured = [one["measured"] for one in found["containers"] if one["measured"]]
        used = [one["used"]["memory_bytes"] for one in measured]
        return sum(one >= HELD_MB << 20 for one in used) == CONTAINERS - 1

    wait_until(is_held, f"what the containers of {application} hold", WAIT_SECONDS)


def _planned_start(manager: ResourceManager, application: str) -> dict[str, Any] | None:
    waiting = manager.elastane_rest(f"applications/{application}")["waiting"]
    return waiting and waiting["planned_start"]
