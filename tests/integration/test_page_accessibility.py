"""The page for people who use it by keyboard or screen reader: axe-core looks at each view, and
keys choose a cell of the heat map. A stand-in serves the files of the page and made-up answers."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from cluster.browser import Browser, views
from cluster.made_up_answers import application_id, node_name
from cluster.paths import Checkout

from .page_walk import press, tab_to

WIDE = 1400
VIEWS = views(node_name(3), application_id(10))
# Of the heat map: the shown numbers, what a screen reader is told, and the painted cells.
SAID = "return document.querySelector('.told').textContent"
ANNOUNCED = "return document.querySelector('.told + [role=status]').textContent"
PAINTED = "return document.querySelector('.heat canvas').toDataURL()"
# As a refresh does, which comes every 15 s.
SHOW_ANEW = "document.querySelector('main select').dispatchEvent(new Event('change'))"
COLUMNS = """const canvas = document.querySelector(".heat canvas");
return Math.floor(canvas.clientWidth / 56);"""
RUN = "axe.run().then(arguments[0], (error) => arguments[0]({ error: String(error) }));"


@pytest.fixture(scope="module")
def axe(checkout: Checkout) -> str:
    return (checkout.target / "page-lint/node_modules/axe-core/axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_keeps_the_rules_of_accessibility(
    browser: Browser, made_up_page: str, axe: str, name: str, scheme: str
) -> None:
    browser.prefer(scheme)
    browser.open("about:blank")
    browser.open(f"{made_up_page}{VIEWS[name]}")
    browser.wait_text("#updated", "Updated")
    browser.run(axe)
    found: dict[str, Any] = browser.driver.execute_async_script(RUN)
    assert "error" not in found, found
    broken = [
        f"{rule['id']}: {rule['help']}: {node['html']}"
        for rule in (*found["violations"], *found["incomplete"])
        for node in rule["nodes"]
    ]
    assert broken == []
    assert len(found["passes"]) > 30


def test_keys_choose_a_cell_of_the_heat_map(browser: Browser, made_up_page: str) -> None:
    browser.resize(WIDE)
    browser.open("about:blank")
    browser.open(f"{made_up_page}#nodes")
    browser.wait_text("main table", node_name(1))
    painted = browser.run(PAINTED)
    tab_to(browser, ".heat")
    columns = browser.run(COLUMNS)
    # Nodes with a label come last.
    nodes = [*(one for one in range(60) if one % 20), 0, 20, 40]
    for key, place in (
        (None, 0),
        (Keys.ARROW_LEFT, 0),
        (Keys.ARROW_RIGHT, 1),
        (Keys.ARROW_DOWN, 1 + columns),
        (Keys.ARROW_UP, 1),
        (Keys.ARROW_UP, 1),
        (Keys.END, 59),
        (Keys.HOME, 0),
    ):
        if key is not None:
            press(browser, key)
        assert browser.run(SAID).startswith(f"{node_name(nodes[place])}: ")
        assert browser.run(ANNOUNCED) == browser.run(SAID)
    assert browser.run(PAINTED) != painted, "the chosen cell has a ring"
    # New numbers keep the choice.
    press(browser, Keys.ARROW_RIGHT)
    browser.run(SHOW_ANEW)
    assert browser.run(SAID).startswith(f"{node_name(2)}: ")
    press(browser, Keys.TAB)
    assert browser.run(PAINTED) == painted, "without the focus there is no ring"
    assert browser.run(SAID).startswith("Point at a cell")


def test_the_heat_map_begins_at_a_node_that_the_filter_finds(
    browser: Browser, made_up_page: str
) -> None:
    browser.open("about:blank")
    browser.open(f"{made_up_page}#nodes")
    browser.wait_text("main table", node_name(1))
    tab_to(browser, "main input[type=search]")
    press(browser, "node-0037")
    tab_to(browser, ".heat")
    assert browser.run(SAID).startswith(f"{node_name(37)}: ")
    press(browser, Keys.ENTER)
    browser.wait_text("main h2", f"Node {node_name(37)}")
