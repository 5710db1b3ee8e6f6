"""The stream of decisions on the page. A stand-in serves the files of the page and made-up
answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.remote.webelement import WebElement

from cluster.browser import Browser
from cluster.made_up_answers import Answers
from cluster.made_up_container import application_id, container_id, node_name
from cluster.page_stand_in import StandIn

# With fewer applications, two of the decisions that are loaded first would name the same container.
APPLICATIONS = 300
NODES = 60
DECISIONS_EACH_ROUND = 200
KIND = "tbody td:nth-of-type(1)"

APPLICATION_CELLS = """
    return [...document.querySelectorAll('tbody td:nth-of-type(2)')].map((it) => it.textContent)"""
NEWEST_LINE = "return document.querySelector('tbody tr').textContent"


@pytest.fixture(scope="module")
def page(resources: Path) -> Iterator[str]:
    with StandIn(Answers(NODES, APPLICATIONS), resources) as one:
        yield one.url


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one
        assert one.errors() == []


def test_the_search_leaves_only_what_matches(browser: Browser, page: str) -> None:
    browser.open(f"{page}#decisions")
    browser.wait_text("main", "100 loaded")
    search = browser.find("main form input[type=search]")[0]
    # The placement with number 9,950, which is among the first that are loaded.
    known = container_id(9_950 % APPLICATIONS, 9_950 % 90)
    search.send_keys(known.upper())
    browser.wait_text("main", "loaded, 1 match the search")
    (row,) = (one.text.replace("\n", "") for one in browser.find("main tbody tr"))
    assert f" placed {application_id(9_950 % APPLICATIONS)} {known} " in row
    assert node_name(9_950 % NODES) in row
    # New decisions arrive, and do not match.
    loaded = _loaded(browser)
    browser.wait(lambda: _loaded(browser) > loaded, "new decisions")
    assert len(browser.find("main tbody tr")) == 1

    search.clear()
    search.send_keys("1.5 GiB are short")
    browser.wait(lambda: len(browser.find("main tbody tr")) > 1, "refusals")
    assert {cell.text for cell in browser.find(KIND)} == {"refused"}
    search.clear()
    search.send_keys("in no decision")
    browser.wait_text("main", "loaded, 0 match the search")
    assert known not in browser.text("main tbody")
    search.clear()
    search.send_keys(" ")
    browser.wait(lambda: len(browser.find("main tbody tr")) >= loaded, "all that are loaded")


def test_decisions_are_found_by_the_queue_of_their_application(browser: Browser, page: str) -> None:
    browser.open(f"{page}#decisions")
    browser.wait_text("main", "100 loaded")
    search = browser.find("main form input[type=search]")[0]
    search.send_keys("root.etl.nightly")
    browser.wait_text("main", "match the search")
    shown = {one.text.replace("\n", "") for one in browser.find("tbody td:nth-of-type(2)")}
    assert shown
    nightly = {application_id(index) for index in range(0, APPLICATIONS, 3)}
    assert shown <= nightly
    search.clear()
    queue = browser.find("form input")[3]
    assert queue.accessible_name == "Queue"
    analysts = {application_id(index) for index in range(APPLICATIONS)} - nightly
    _show_queue(browser, queue, "root.analysts", analysts)
    # The nightly applications are in a queue below root.etl.
    _show_queue(browser, queue, "root.etl", nightly)


def test_a_correction_is_told_in_words(browser: Browser, page: str) -> None:
    browser.open(f"{page}#decisions?kind=reprovision")
    browser.wait_text(
        "main tbody",
        "opened; behind; slowness 1.42",
        "measured; corrected by CPU 1.50, memory 1, network 1, disk 1",
        "returned; the container ended",
    )
    assert {cell.text for cell in browser.find(KIND)} == {"reprovision"}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            "preemption",
            (
                "preempted; the node is short of memory, and its application has the newest"
                " containers; 3 GiB resident, 1 GiB short",
                "by CapacityScheduler; told; its queue has more than its guarantee",
            ),
        ),
        (
            "migration",
            (
                "its executor leaves: it takes no more tasks; the node is being decommissioned",
                "stays: it is no Spark executor; the node is short of memory",
            ),
        ),
    ],
)
def test_who_had_to_go_is_told_in_words(
    browser: Browser, page: str, kind: str, told: tuple[str, ...]
) -> None:
    browser.open(f"{page}#decisions?kind={kind}")
    browser.wait_text("main tbody", *told)
    assert {cell.text for cell in browser.find(KIND)} == {kind}


def test_older_decisions_are_loaded_and_new_ones_arrive(browser: Browser, page: str) -> None:
    browser.open(f"{page}#decisions?kind=refused")
    browser.wait_text("main", "100 loaded")
    assert {cell.text for cell in browser.find("tbody td:nth-of-type(1)")} == {"refused"}
    button = next(one for one in browser.find("main button") if one.text == "Older decisions")
    button.click()
    browser.wait(lambda: len(browser.find("tbody tr")) >= 200, "older decisions")
    newest = browser.text("tbody tr")
    browser.wait(lambda: browser.text("tbody tr") != newest, "a new decision on top")
    assert len(browser.find("tbody tr")) > 200


def test_loaded_decisions_stay_below_many_new_ones(browser: Browser, resources: Path) -> None:
    answers = Answers(10, 10, DECISIONS_EACH_ROUND)
    with StandIn(answers, resources) as many:
        browser.open(f"{many.url}#decisions")
        browser.wait_text("main", "100 loaded")
        first = browser.run(NEWEST_LINE)
        browser.wait_text("main", "300 loaded")
        lines = browser.run(
            "return [...document.querySelectorAll('tbody tr')].map((it) => it.textContent)"
        )
        assert lines[DECISIONS_EACH_ROUND] == first
        assert len(lines) == len(set(lines)) == 300
        # The table is bounded, and what is loaded goes on.
        browser.wait_text("main", "700 loaded")
        assert len(browser.find("tbody tr")) == 700


def test_what_others_decide_drops_nothing_that_is_loaded(browser: Browser, resources: Path) -> None:
    answers = Answers(10, 10, DECISIONS_EACH_ROUND)
    with StandIn(answers, resources) as many:
        browser.open(f"{many.url}#decisions")
        browser.wait_text("main", "100 loaded")
        rounds = answers.rounds
        answers.hides_decisions = True
        browser.wait(lambda: answers.rounds >= rounds + 5, "pages of others", seconds=60)
        assert "100 loaded" in browser.text("main")
        assert "dropped" not in browser.text("main")


def test_a_changed_filter_keeps_focus_and_search(browser: Browser, page: str) -> None:
    browser.open(f"{page}#decisions")
    browser.wait_text("main", "100 loaded")
    node, _, search = browser.find("form input")[2:5]
    search.send_keys("refused")
    node.send_keys(f"{node_name(3)}\n")
    browser.wait(lambda: "node=" in browser.run("return location.hash"), "the filter")
    browser.wait_text("main tbody tr", node_name(3))
    assert browser.run("return document.activeElement === arguments[0]", node)
    assert search.get_attribute("value") == "refused"
    browser.find("nav a")[3].click()
    browser.wait_text("main", "100 loaded")
    assert browser.run("return document.activeElement.id") == "view"


def _show_queue(browser: Browser, field: WebElement, name: str, wanted: set[str]) -> None:
    """Filters by a queue, and waits until only these applications are shown."""
    field.clear()
    field.send_keys(f"{name}\n")
    browser.wait(lambda: f"queue={name}" in browser.run("return location.hash"), "the filter")
    browser.wait(lambda: set() < set(browser.run(APPLICATION_CELLS)) <= wanted, f"only {name}")


def _loaded(browser: Browser) -> int:
    """How many decisions are loaded, as the page tells it."""
    told = browser.text("main .note")
    return int(told.partition(" loaded")[0].replace(",", ""))
