"""The page for people who use it by keyboard or screen reader: axe-core looks at each view. A
stand-in serves the files of the page and made-up answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cluster.browser import Browser, views
from cluster.made_up_answers import Answers, application_id, node_name
from cluster.page_stand_in import StandIn
from cluster.paths import Checkout

VIEWS = views(node_name(3), application_id(10))
RUN = "axe.run().then(arguments[0], (error) => arguments[0]({ error: String(error) }));"


@pytest.fixture(scope="module")
def axe(checkout: Checkout) -> str:
    return (checkout.target / "page-lint/node_modules/axe-core/axe.min.js").read_text()


@pytest.fixture(scope="module")
def page(checkout: Checkout) -> Iterator[str]:
    resources = checkout.root / "java-shim/scheduler/src/main/resources/org/elastane"
    with StandIn(Answers(60, 30), resources) as one:
        yield one.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_keeps_the_rules_of_accessibility(
    browser: Browser, page: str, axe: str, name: str, scheme: str
) -> None:
    browser.prefer(scheme)
    browser.open("about:blank")
    browser.open(f"{page}{VIEWS[name]}")
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
