"""The page with 5,000 nodes and 300 applications. A stand-in serves the files of the page and
made-up answers: no cluster of this size fits on a machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from cluster.browser import Browser
from cluster.made_up_advice import REPLAYED, AdvisingAnswers
from cluster.made_up_answers import (
    APPLICATIONS,
    NODES,
    WAITING_EVERY,
    Answers,
)
from cluster.made_up_container import application_id, container_id, node_name
from cluster.page_stand_in import LISTS, StandIn, page_of, without_core

from .described import assert_as_described

# From the navigation or the click to the painted heat map, with the answer of the stand-in.
SHOWN_WITHIN_MS = 2_000
# The start of Chromium's renderer and of the stand-in's threads can take long on a busy machine.
NAVIGATIONS = 3
# When the map was painted, in ms since the navigation, how long that took from the answer on, and
# its number of nodes.
PAINTED = """const [one] = performance.getEntriesByName("nodes painted");
return one && {
  shown: one.startTime + one.duration, took: one.duration, nodes: one.detail.nodes,
};"""
NOTE_CLICK = """arguments[0].addEventListener("click", (event) => {
  window.clickedMs = event.timeStamp;
}, { capture: true });"""
ADVICE = "What enforce would win"
ADVICE_STATE = "main [role=status]"


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


@pytest.fixture
def advice() -> AdvisingAnswers:
    return AdvisingAnswers()


@pytest.fixture
def advising(advice: AdvisingAnswers, resources: Path) -> Iterator[StandIn]:
    with StandIn(advice, resources) as one:
        yield one


@pytest.mark.parametrize("answers", [Answers(), AdvisingAnswers()], ids=["enforce", "advise"])
def test_the_made_up_answers_are_as_described(answers: Answers, resources: Path) -> None:
    description = json.loads((resources / "rest/openapi.json").read_text())
    some = {"node": node_name(3), "application": application_id(10)}
    for path in description["paths"]:
        asked = path.removeprefix("/v1/").format_map(some)
        answer = answers.of(asked, {})
        if answer is None:
            continue  # The page asks for no other path.
        if asked in LISTS:
            answer = page_of(asked, answer, {"limit": "200"})
        for one in (answer, without_core(asked, answer)):
            assert_as_described(one, path, description)


def test_the_heat_map_is_painted_in_time_after_the_navigation(browser: Browser, page: str) -> None:
    shown = []
    for _ in range(NAVIGATIONS):
        browser.open("about:blank")
        browser.open(f"{page}#nodes")
        painted = browser.wait(lambda: browser.run(PAINTED), "the painted heat map")
        print(
            f"{painted['nodes']} nodes painted {painted['shown']:.0f} ms after the navigation,"
            f" {painted['took']:.0f} ms after the answer"
        )
        assert painted["nodes"] == NODES
        assert painted["took"] < SHOWN_WITHIN_MS
        shown.append(painted["shown"])
    assert min(shown) < SHOWN_WITHIN_MS
    assert f"Heat map of {NODES:,} nodes" in _heat_map(browser).get_attribute("aria-label")


def test_the_heat_map_is_painted_in_time_after_a_click(browser: Browser, page: str) -> None:
    browser.open(f"{page}#cluster")
    browser.wait_text("#updated", "Updated")
    link = browser.find("nav a")[1]
    browser.run(NOTE_CLICK, link)
    link.click()
    painted = browser.wait(lambda: browser.run(PAINTED), "the painted heat map")
    took = painted["shown"] - browser.run("return clickedMs")
    print(f"{painted['nodes']} nodes painted {took:.0f} ms after the click")
    assert painted["nodes"] == NODES
    assert took < SHOWN_WITHIN_MS


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


def test_the_focus_stays_when_a_row_above_goes(
    browser: Browser, answers: Answers, page: str
) -> None:
    browser.open(f"{page}#applications")
    browser.wait_text("section:nth-of-type(2) tbody", application_id(299), application_id(297))
    browser.find("section:nth-of-type(2) tbody a")[2].send_keys("")
    focused = "return document.activeElement.textContent"
    assert browser.run(focused) == application_id(297)
    gone = answers.applications.pop(0)
    try:
        rows = "section:nth-of-type(2) tbody"
        browser.wait(lambda: application_id(299) not in browser.text(rows), "the row's end")
        assert browser.run(focused) == application_id(297)
    finally:
        answers.applications.insert(0, gone)
    browser.wait(lambda: application_id(299) in browser.text(rows), "the row on top")
    assert browser.run(focused) == application_id(297)


def test_a_zoomed_chart_stays_zoomed(browser: Browser, page: str) -> None:
    browser.open(f"{page}#cluster")
    browser.wait_text("main figure .u-legend", "Physical")
    whole = _shown_seconds(browser)
    over = browser.find(".u-over")[0]
    left = -over.size["width"] // 5
    drag = ActionChains(browser.driver).move_to_element_with_offset(over, left, 0)
    drag.click_and_hold().move_by_offset(-2 * left, 0).release().perform()
    zoomed = _shown_seconds(browser)
    assert zoomed < whole / 2
    for _ in range(3):  # The history has a new step in at least one of these rounds.
        told = browser.text("#updated")
        browser.wait(lambda told=told: browser.text("#updated") != told, "a refresh")
    assert abs(_shown_seconds(browser) - zoomed) < whole / 50
    browser.prefer("dark")  # Makes the chart anew.
    browser.wait(lambda: browser.find("main figure .u-over"), "the dark chart")
    assert abs(_shown_seconds(browser) - zoomed) < whole / 50
    ActionChains(browser.driver).double_click(browser.find(".u-over")[0]).perform()
    assert abs(_shown_seconds(browser) - whole) < whole / 50


def test_what_the_core_does_not_say_is_not_known(
    browser: Browser, stand_in: StandIn, page: str
) -> None:
    stand_in.is_core_out_of_service = True
    try:
        known = "not known: the core gives no answer now"
        browser.open(f"{page}#cluster")
        shown = browser.wait_text("main", "out of service", known)
        assert "No refusal" not in shown
        browser.open(f"{page}#nodes")
        label = browser.wait(
            lambda: browser.find("main tbody a") and _heat_map(browser).get_attribute("aria-label"),
            "the nodes",
        )
        assert known in label
        shown = browser.text("main tbody")
        assert "not known" in shown
        assert "never" not in shown
        browser.open(f"{page}#nodes/{node_name(3)}")
        shown = browser.wait_text("main", "Not known: the core gives no answer now.")
        assert "never" not in shown
        assert "silent" not in shown
        browser.open(f"{page}#applications")
        browser.wait_text("main section:nth-of-type(1)", "Not known: the core")
        browser.wait_text("main section:nth-of-type(2)", known, application_id(299))
        shown = browser.wait_text("main section:nth-of-type(3)", "Not known: the core")
        assert "None to show" not in browser.text("main")
        browser.open(f"{page}#applications/{application_id(10)}")
        browser.wait_text("main tbody", known)
    finally:
        stand_in.is_core_out_of_service = False


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


def test_a_button_works_out_what_enforce_would_win(
    browser: Browser, advising: StandIn, advice: AdvisingAnswers
) -> None:
    browser.open(f"{advising.url}#cluster")
    browser.wait_text("main", ADVICE)
    _wait_refreshed(browser)
    assert advice.asked == 0, "nobody asked for a replay"
    advice.is_working = True
    button = _advice_button(browser)
    button.send_keys("\n")
    browser.wait_text(ADVICE_STATE, "being replayed")
    button.send_keys("\n")  # Has no effect now.
    advice.is_working = False
    shown = browser.wait_text("main", "Mode enforce would complete 734 applications 25 % sooner")
    assert "in 18 min 30 s instead of 24 min 40 s" in shown
    assert "The makespan would be 5.2 % shorter." in shown
    assert "3,210 of 9,876 containers would start at least 1 s earlier, by 1 min 51 s" in shown
    assert "12 % fewer node-hours" in shown
    assert "later than recorded" in shown
    assert "with care" not in shown
    assert "\N{MINUS SIGN}4.2 s" in shown
    assert "Node-hours in mode enforce" in shown
    assert browser.text(".tall tbody tr").split()[-2:] == ["4.50", "1.80"]
    assert "Worked out from the record up to" in browser.text(ADVICE_STATE)
    assert browser.run("return document.activeElement === arguments[0]", button)
    asked = advice.asked
    # The figures stay while another view is shown, and a link leads there.
    assert len(browser.find(".tall tbody tr")) == REPLAYED
    link = browser.find(".tall tbody a")[0]
    assert link.text == application_id(0)
    link.click()
    browser.wait_text("main h2", f"Application {application_id(0)}")
    browser.run("history.back()")
    browser.wait_text("main", "Mode enforce would complete", ADVICE, "<b>bold</b>")
    assert advice.asked == asked
    next(one for one in browser.find(".tall button") if one.text == "Submitted").click()
    assert application_id(REPLAYED - 1) in browser.text(".tall tbody tr")


def test_an_uncertain_advice_says_so(
    browser: Browser, advising: StandIn, advice: AdvisingAnswers
) -> None:
    figures = advice.advice
    figures["replay_error"] = {"mean_completion": 0.21, "makespan": 0.004}
    figures["enforce"] = figures["recorded"]
    browser.open(f"{advising.url}#cluster")
    browser.wait_text("main", ADVICE)
    _advice_button(browser).click()
    shown = browser.wait_text("main", "above 15 %: read the figures with care")
    assert "complete 21 % later than recorded on average, and the makespan is as recorded" in shown
    assert "The makespan would be 2.0 % longer." in shown
    nothing = "No application has ended yet."
    figures.update(problem=nothing, capacity=None, enforce=None)
    _advice_button(browser).click()
    shown = browser.wait_text("main", nothing)
    assert "Mode enforce would complete" not in shown


def test_advice_is_for_administrators_in_mode_advise(
    browser: Browser, advising: StandIn, advice: AdvisingAnswers
) -> None:
    advice.mode = "observe"
    browser.open(f"{advising.url}#cluster")
    browser.wait_text("main", "observe", "What was gained", "in service")
    _wait_refreshed(browser)
    assert ADVICE not in browser.text("main")
    # A queue in mode advise is enough.
    advice.queues[1]["mode"] = "advise"
    browser.wait_text("main", ADVICE)
    advising.refused = {"advice"}
    _advice_button(browser).click()
    browser.wait(lambda: ADVICE not in browser.text("main"), "the end of the section")
    advising.refused = {"advice", "profiles"}
    browser.driver.refresh()
    browser.wait_text("main", "in service")
    _wait_refreshed(browser)
    assert ADVICE not in browser.text("main")
    assert advice.asked == 1
    # Chromium writes each such answer to the console.
    assert [error for error in browser.errors() if "status of 403" not in error] == []


def _wait_refreshed(browser: Browser) -> None:
    told = browser.wait_text("#updated", "Updated")
    browser.wait(lambda: browser.text("#updated") != told, "a refresh")


def _advice_button(browser: Browser) -> Any:
    return next(one for one in browser.find("main button") if one.text == "Work it out")


def _heat_map(browser: Browser) -> Any:
    return browser.find("canvas[role=img]")[0]


def _shown_seconds(browser: Browser) -> int:
    """The time between two places of the first chart, as its legend tells it."""
    over = browser.find(".u-over")[0]
    times = []
    for side in (-1, 1):
        place = side * over.size["width"] * 2 // 5
        ActionChains(browser.driver).move_to_element_with_offset(over, place, 0).perform()
        browser.wait(lambda: ":" in browser.text(".u-legend .u-value"), "a time")
        hours, minutes, seconds = map(int, browser.text(".u-legend .u-value").split(":"))
        times.append(3_600 * hours + 60 * minutes + seconds)
    return (times[1] - times[0]) % 86_400
