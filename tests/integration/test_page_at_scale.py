"""The page with 5,000 nodes and 300 applications. A stand-in serves the files of the page and
made-up answers: no cluster of this size fits on a machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cluster.browser import Browser
from cluster.made_up_answers import (
    APPLICATIONS,
    NODES,
    WAITING_EVERY,
    Answers,
    application_id,
    container_id,
    node_name,
)
from cluster.page_stand_in import StandIn
from cluster.paths import Checkout

PAINTED_WITHIN_MS = 2_000


@pytest.fixture(scope="module")
def resources(checkout: Checkout) -> Path:
    return checkout.root / "java-shim/scheduler/src/main/resources/org/elastane"


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers()


@pytest.fixture(scope="module")
def stand_in(answers: Answers, resources: Path) -> Iterator[StandIn]:
    with StandIn(answers, resources) as one:
        yield one


@pytest.fixture(scope="module")
def page(stand_in: StandIn) -> str:
    return stand_in.url


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one
        refused = "status of 503"
        assert [error for error in one.errors() if refused not in error] == []


def test_the_made_up_answers_are_as_described(answers: Answers, resources: Path) -> None:
    description = json.loads((resources / "rest/openapi.json").read_text())
    some = {"node": node_name(3), "application": application_id(10)}
    for path, operations in description["paths"].items():
        answer = answers.of(path.removeprefix("/v1/").format_map(some), {})
        if answer is None:
            continue  # The page asks for no other path.
        schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        whole = {**schema, "components": description["components"]}
        faults = Draft202012Validator(whole).iter_errors(answer)
        assert [f"{path}: {it.json_path}: {it.message}" for it in faults] == []


def test_the_heat_map_of_all_nodes_is_painted_in_time(browser: Browser, page: str) -> None:
    browser.open(f"{page}#nodes")
    measured = """const one = performance.getEntriesByName("nodes painted")[0];
        return one && { duration: one.duration, nodes: one.detail.nodes };"""
    painted = browser.wait(lambda: browser.run(measured), "the painted heat map")
    assert painted["nodes"] == NODES
    assert painted["duration"] < PAINTED_WITHIN_MS
    assert f"Heat map of {NODES:,} nodes" in _heat_map(browser).get_attribute("aria-label")


def test_a_node_is_found_by_its_name(browser: Browser, page: str) -> None:
    browser.open(f"{page}#nodes")
    browser.wait_text("main table", node_name(1))
    browser.find("main input[type=search]")[0].send_keys("node-4321")
    browser.wait(lambda: len(browser.find("main tbody tr")) == 1, "the only node found")
    assert node_name(4321) in browser.text("main tbody")
    browser.find("main tbody a")[0].click()
    browser.wait_text("main h2", f"Node {node_name(4321)}")
    browser.wait_text("main", container_id(4321 % APPLICATIONS, 3))


def test_a_click_on_a_cell_opens_its_node(browser: Browser, page: str) -> None:
    browser.open(f"{page}#nodes")
    browser.wait_text("main table", node_name(1))
    browser.run(
        """const canvas = arguments[0];
        const { left, top } = canvas.getBoundingClientRect();
        const at = { clientX: left + 3, clientY: top + 3, bubbles: true };
        canvas.dispatchEvent(new PointerEvent("pointermove", at));
        canvas.dispatchEvent(new MouseEvent("click", at));""",
        _heat_map(browser),
    )
    # Nodes without a label come first; node 0 has one.
    browser.wait_text("main h2", f"Node {node_name(1)}")


def test_applications_are_filtered(browser: Browser, page: str) -> None:
    browser.open(f"{page}#applications")
    waiting = APPLICATIONS // WAITING_EVERY
    browser.wait(lambda: len(browser.find("tbody tr")) >= APPLICATIONS, "all applications")
    assert len(browser.find("section:nth-of-type(1) tbody tr")) == waiting
    assert "2 applications that you may not see" in browser.text("main")
    browser.find("main input[type=search]")[0].send_keys("nightly-299")
    browser.wait(lambda: len(browser.find("section:nth-of-type(2) tbody tr")) == 1, "one left")
    assert application_id(299) in browser.text("section:nth-of-type(2) tbody")


def test_a_name_is_shown_as_text(browser: Browser, page: str) -> None:
    browser.open(f"{page}#applications/{application_id(7)}")
    browser.wait_text("main", "<b>bold</b><script>fail()</script>")
    assert browser.find("main script") == []


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


def test_numbers_stay_while_there_is_no_answer(
    browser: Browser, stand_in: StandIn, page: str
) -> None:
    browser.open(f"{page}#cluster")
    browser.wait_text("main", "in service", f"{NODES:,}")
    stand_in.is_out_of_service = True
    try:
        told = browser.wait_text("#errors", "no ElastaneScheduler is active")
        assert "v1/status" in told
        assert "in service" in browser.text("main")
    finally:
        stand_in.is_out_of_service = False
    browser.wait(lambda: browser.text("#errors") == "", "the end of the errors")


def _heat_map(browser: Browser) -> Any:
    return browser.find("canvas[role=img]")[0]
