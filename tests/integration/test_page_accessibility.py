"""The page for people who use it by keyboard or screen reader: axe-core looks at each view. A
stand-in serves the files of the page and made-up answers."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.browser import Browser, views
from cluster.made_up_answers import application_id, node_name
from cluster.paths import Checkout

VIEWS = views(node_name(3), application_id(10))
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
