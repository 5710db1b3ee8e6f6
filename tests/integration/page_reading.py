"""What the live page shows, for its tests."""

from __future__ import annotations

import math

from cluster.browser import Browser

MEBIBYTES = {"MiB": 1, "GiB": 1024}
# The cells of the first row that names `name`, by the headings of its table.
ROW = """
const [within, name] = arguments;
for (const table of document.querySelectorAll(`${within} table`)) {
  const row = [...table.tBodies[0].rows].find((it) => it.textContent.includes(name));
  if (row) {
    const headings = [...table.tHead.rows[0].cells].map((it) => it.textContent);
    return Object.fromEntries([...row.cells].map((it, at) => [headings[at], it.textContent]));
  }
}
return {};
"""


def open_anew(browser: Browser, address: str) -> None:
    """Loads a view with all its answers, also if it is the one that is shown."""
    browser.open("about:blank")
    browser.open(address)
    browser.wait_text("#updated", "Updated")


def check_console(browser: Browser, *statuses: int) -> None:
    """Asserts that Chromium complains of nothing but answers with these statuses."""
    browser.open("about:blank")
    told = [f"status of {status} " for status in statuses]
    assert [it for it in browser.errors() if not any(one in it for one in told)] == []


def row_of(browser: Browser, within: str, name: str) -> dict[str, str]:
    """The cells of the row that names `name`, by their headings; empty if there is none."""
    return browser.run(ROW, within, name)


def mebibytes(shown: str) -> float:
    """The memory that a text such as `212 MiB` tells; not a number where none is known."""
    amount, _, unit = shown.partition(" ")
    return float(amount.replace(",", "")) * MEBIBYTES[unit] if unit else math.nan


def texts_of(application: str, name: str) -> set[str]:
    """The texts by which a view can name an application or one of its containers."""
    return {application, name, container_name(application), chart_name(application)}


def container_name(application: str) -> str:
    """How the id of each container of an application begins."""
    return f"{application.replace('application', 'container')}_"


def chart_name(application: str) -> str:
    """How the charts of a node begin to name each container of an application."""
    return f"{application.rpartition('_')[2]}/"
