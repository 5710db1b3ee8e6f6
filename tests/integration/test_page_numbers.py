"""The numbers on the page are those of the answers. A stand-in serves the files of the page and
made-up answers."""

from __future__ import annotations

from cluster.browser import Browser
from cluster.made_up_container import application_id, container_id, node_name
from cluster.rest import get_json


def test_what_was_gained(browser: Browser, made_up_page: str) -> None:
    browser.open(f"{made_up_page}#cluster")
    # A quarter of the memory of 60 nodes is booked above it, for three hours less a step.
    shown = browser.wait_text("main", "Booked above physical now\n3,840 GiB\n25 %")
    assert "In containers of mean size\n150\n25.6 GiB each" in shown
    assert "Node-hours gained\n45.3\n" in shown
    assert "over 2 h 59 min" in shown


def test_what_fell_back(browser: Browser, made_up_page: str) -> None:
    browser.open(f"{made_up_page}#cluster")
    browser.wait_text("main", "What fell back")
    rows = [row.text for row in browser.find("main tbody tr")]
    assert any(row.startswith("Nodes with a silent agent 1 now Without a fresh") for row in rows)
    assert any(row.startswith("Commits refused by the core 17 the core was") for row in rows)
    assert not any(row.startswith("Deadlines missed") for row in rows)


def test_each_resource_has_its_sizes(browser: Browser, made_up_page: str) -> None:
    browser.open(f"{made_up_page}#cluster")
    browser.wait_text("main figure", "Latest: physical 15,360 GiB, bookable")
    told = [figure.text for figure in browser.find("main figure")]
    assert [text.split("\n")[0] for text in told] == [
        "Memory, GiB",
        "CPU, cores",
        "Network, MiB/s",
        "Disks, MiB/s",
    ]
    assert all(" planned " in text and " used " in text for text in told)
    assert all("in the next ten minutes" in text for text in told)
    assert all("Latest: physical 71,526 MiB/s, planned" in text for text in told[2:])


def test_progress_and_expected_end(browser: Browser, made_up_page: str) -> None:
    browser.open(f"{made_up_page}#applications")
    browser.wait_text("main section:nth-of-type(2)", application_id(29))
    row = _row(browser, "main section:nth-of-type(2)", application_id(29))
    assert "43 %" in row
    assert "with a probability of 80 % between" in row
    assert "by 3 earlier runs" in row


def test_the_filter_finds_the_words_that_are_shown(browser: Browser, made_up_page: str) -> None:
    within = "main section:nth-of-type(1)"
    browser.open("about:blank")
    browser.open(f"{made_up_page}#applications")
    browser.wait_text(within, application_id(20), application_id(10))
    browser.find("main input[type=search]")[0].send_keys("AM resource limit")
    browser.wait(lambda: application_id(10) not in browser.text(within), "the filtered list")
    shown = browser.text(within)
    assert application_id(20) in shown
    assert "Queue's AM resource limit exceeded." in shown


def test_planned_and_used_of_a_container(browser: Browser, made_up_page: str) -> None:
    browser.open(f"{made_up_page}#nodes/{node_name(3)}")
    shown = browser.wait_text("main", container_id(3, 1))
    row = _row(browser, "main section:nth-of-type(2)", container_id(3, 1))
    assert "12 min 34 s 5 min 5 s 16 GiB, 4 vcores 11 GiB 9 GiB 2.50 cores 2.10 cores 23 %" in row
    assert "Used disk\n" in shown
    assert ", physical 1,192 MiB/s" in shown
    assert "nightly-0 42 s" in shown


def test_how_limits_changed_is_told_newest_first_with_amounts_and_reasons(
    browser: Browser, made_up_page: str
) -> None:
    browser.open(f"{made_up_page}#nodes/{node_name(3)}")
    within = "main section:nth-of-type(6)"
    browser.wait_text(within, "Changes of limits", container_id(3, 1))
    rows = [row.text.replace("\n", "") for row in browser.find(f"{within} tbody tr")]
    of_one = [
        row.partition(f"{container_id(3, 1)} ")[2] for row in rows if container_id(3, 1) in row
    ]
    assert of_one == [
        "memory 11 GiB 16 GiB its predicted end is near or past: its request",
        "CPU weight no limit 2.50 cores the first plan for the container since it started",
    ]


def test_runs_and_confidence_of_a_profile(browser: Browser, made_up_page: str) -> None:
    profiles = get_json(f"{made_up_page}v1/profiles")["profiles"]
    known = next(one for one in profiles if "|nightly-17|" in one["profile"])
    browser.open(f"{made_up_page}#applications")
    within = "main section:nth-of-type(3)"
    browser.wait_text(within, "|nightly-17|")
    (cells,) = (
        dict(zip(_texts(browser, f"{within} thead th"), row, strict=True))
        for row in browser.run(
            """return [...document.querySelectorAll(arguments[0])]
                .map((row) => [...row.cells].map((cell) => cell.textContent));""",
            f"{within} tbody tr",
        )
        if known["profile"] in row
    )
    (kind,) = known["kinds"]
    assert cells["Runs"] == str(known["runs"]) == "20"
    assert cells["Containers"] == "executor, priority 1"
    assert cells["Confidence"] == f"{kind['confidence']:.2f}" == "0.67"
    assert cells["Margin"] == "25 %"


def _texts(browser: Browser, selector: str) -> list[str]:
    return [one.text for one in browser.find(selector)]


def _row(browser: Browser, within: str, name: str) -> str:
    rows = (row.text.replace("\n", "") for row in browser.find(f"{within} tbody tr"))
    return next(row for row in rows if name in row)
