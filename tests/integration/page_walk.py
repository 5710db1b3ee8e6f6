"""A walk through a view of the page by the tabulator key."""

from __future__ import annotations

from dataclasses import dataclass

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from cluster.browser import Browser

# More than a view of these tests has.
MOST_STOPS = 400
MOST_RESTARTS = 2
# The next element behind the one with the focus that can be used and is displayed; null at the end.
NEXT = """
const usable = [...document.querySelectorAll("a[href], button, input, select, [tabindex='0']")]
  .filter((it) => it.checkVisibility({ visibilityProperty: true }));
const at = usable.indexOf(document.activeElement);
return usable[at + 1] ?? null;
"""
# Chromium would go on behind the element that had the focus last, so body must get it.
START_AT = """
const start = arguments[0];
if (start === document.body) {
  start.tabIndex = -1;
}
start.focus();
"""
# Of the element with the focus. A table region is larger than the window: a part in view is enough.
STOP = """
const it = document.activeElement;
const { outlineStyle, outlineWidth } = getComputedStyle(it);
const box = it.getBoundingClientRect();
const isOutlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
return {
  element: it,
  tag: it.tagName.toLowerCase(),
  href: it.getAttribute("href") ?? "",
  text: it.getAttribute("aria-label") ?? it.textContent,
  is_marked: it.matches(":focus-visible") && isOutlined,
  is_in_view: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
};
"""


@dataclass(frozen=True)
class Stop:
    """Where the tabulator key stops."""

    tag: str
    href: str
    text: str
    is_marked: bool
    """Whether an outline shows that it has the focus."""

    is_in_view: bool


def walk(browser: Browser) -> list[Stop]:
    """Presses the tabulator key from the element with the focus to the last one of the page, and
    asserts that it leaves out nothing that can be used. Begins anew where it does not: a refresh
    can bring or remove a row in the meantime."""
    start = browser.run("return document.activeElement")
    for _ in range(MOST_RESTARTS):
        try:
            return _walk_once(browser)
        except (AssertionError, StaleElementReferenceException):
            browser.run(START_AT, start)
    return _walk_once(browser)


def _walk_once(browser: Browser) -> list[Stop]:
    stops: list[Stop] = []
    while (wanted := browser.run(NEXT)) is not None:
        press(browser, Keys.TAB)
        found = browser.run(STOP)
        element = found.pop("element")
        stop = Stop(**found)
        assert element == wanted, f"{stop} in place of {wanted.get_attribute('outerHTML')}"
        stops.append(stop)
        assert len(stops) <= MOST_STOPS, stops[-5:]
    return stops


def press(browser: Browser, key: str) -> None:
    """Sends a key to the element that has the focus."""
    ActionChains(browser.driver).send_keys(key).perform()


def tab_to(browser: Browser, selector: str) -> None:
    """Presses the tabulator key until an element that matches has the focus."""
    for _ in range(MOST_STOPS):
        if browser.run("return document.activeElement.matches(arguments[0])", selector):
            return
        press(browser, Keys.TAB)
    raise AssertionError(f"the tabulator key does not reach {selector}")
