"""The charts of a node: one container's use beside its plan and its limits. A stand-in serves the
files of the page and made-up answers."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from cluster.browser import Browser
from cluster.made_up_container import container_id, node_name

from .page_walk import press, tab_to

NODE = "main section:nth-of-type(1)"
ONE = "main section:nth-of-type(3)"
CHOSEN = f"return document.querySelector('{ONE} select').value"
RESOURCES = ["Memory, GiB", "CPU, cores", "Network, MiB/s", "Disks, MiB/s"]
# Of the chart's width: before the memory limit rose, which was 5 minutes ago, and after that.
EARLIER, LATER = 0.4, 0.9


@pytest.fixture
def node(browser: Browser, made_up_page: str) -> Browser:
    """The page of a node, opened anew."""
    browser.open("about:blank")
    browser.open(f"{made_up_page}#nodes/{node_name(3)}")
    browser.wait_text(ONE, "One container over time", "Latest: ")
    return browser


def test_a_node_has_a_chart_of_each_resource(node: Browser) -> None:
    told = [figure.text for figure in node.find(f"{NODE} figure")]
    assert [text.split("\n")[0] for text in told] == RESOURCES
    assert all("Latest: used " in text and ", planned " in text for text in told)
    assert all("in the next ten minutes" in text for text in told)
    # A tenth of a megabyte per second of each container and of the hidden ones.
    assert "planned 9.54 MiB/s, physical 1,192 MiB/s" in told[2]
    assert "planned 19.1 MiB/s, physical 1,192 MiB/s" in told[3]


def test_one_container_has_its_use_beside_plan_and_limits(node: Browser) -> None:
    assert node.run(CHOSEN) == container_id(3, 1)
    memory, cpu, network, disks = [figure.text for figure in node.find(f"{ONE} figure")]
    assert "Latest: used 9 GiB, planned 11 GiB, memory limit 16 GiB." in memory
    assert "Latest: used 2.10 cores, planned 2.50 cores, CPU weight 2.50 cores; " in cpu
    assert "; CPU weight 1 core in 42 s." in cpu
    assert "planned 0.95 MiB/s, no limit." in network
    assert "planned 1.91 MiB/s, no limit." in disks
    assert _legend(node, "Memory, GiB") == {
        "Time": "latest",
        "Used": "9 GiB",
        "Planned": "11 GiB",
        "Memory limit": "16 GiB",
    }
    legend = _legend(node, "CPU, cores")
    assert legend["CPU weight"] == "2.50 cores"
    assert legend["CPU weight, next"] == "1 core"


def test_a_limit_is_drawn_as_it_was(node: Browser) -> None:
    for place, limit in ((EARLIER, "11 GiB"), (LATER, "16 GiB")):
        _point_at(node, "Memory, GiB", place)
        legend = _legend(node, "Memory, GiB")
        assert legend["Time"] != "latest"
        assert legend["Memory limit"] == limit
        assert legend["Planned"] == "11 GiB"


def test_a_container_is_chosen_by_keys_and_stays_chosen(node: Browser) -> None:
    tab_to(node, f"{ONE} select")
    press(node, Keys.ARROW_DOWN)
    assert node.run(CHOSEN) == container_id(3, 2)
    updated = node.text("#updated")
    node.wait(lambda: node.text("#updated") != updated, "new answers")
    assert node.run(CHOSEN) == container_id(3, 2)
    press(node, Keys.HOME)
    assert node.run(CHOSEN) == container_id(3, 0)
    assert "(application master)" in node.text(f"{ONE} select option:checked")


def _legend(browser: Browser, title: str) -> dict[str, str]:
    """The shown numbers of a chart of the container, by the names of its lines."""
    return browser.run(
        """const [section, title] = arguments;
        const figure = [...document.querySelectorAll(`${section} figure`)]
            .find((it) => it.querySelector("figcaption").textContent === title);
        const textOf = (it, cell) => it.querySelector(cell).textContent;
        return Object.fromEntries([...figure.querySelectorAll(".u-series")]
            .map((it) => [textOf(it, "th"), textOf(it, "td")]));""",
        ONE,
        title,
    )


def _point_at(browser: Browser, title: str, place: float) -> None:
    """Moves the pointer to a place in a chart of the container, from 0 at the left to 1."""
    figure = next(it for it in browser.find(f"{ONE} figure") if it.text.startswith(title))
    (over,) = (it for it in browser.find(f"{ONE} .u-over") if _is_within(browser, it, figure))
    browser.run("arguments[0].scrollIntoView({ block: 'center' })", over)
    width = over.size["width"]
    across = round(width * (place - 0.5))
    ActionChains(browser.driver).move_to_element_with_offset(over, across, 0).perform()


def _is_within(browser: Browser, inner: object, outer: object) -> bool:
    return browser.run("return arguments[1].contains(arguments[0])", inner, outer)
