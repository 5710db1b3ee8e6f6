"""An invalid configuration stops the ResourceManager with one line that names the error."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.paths import Checkout
from cluster.resource_manager import ResourceManager
from cluster.settings import ClusterSettings
from cluster.waiting import wait_until

from .conftest import SHAPE, elastane

END_SECONDS = 60.0
OTHER_VERSION = "9.9.9"


@pytest.fixture
def settings(tmp_path: Path, work: Path) -> ClusterSettings:
    folder = work / tmp_path.name
    folder.mkdir(parents=True, exist_ok=True)
    return ClusterSettings(work=folder, nodes=0, shape=SHAPE, elastane=elastane(folder))


def refusal(settings: ClusterSettings, checkout: Checkout) -> list[str]:
    """The log lines of a ResourceManager that did not start."""
    manager = ResourceManager(settings, checkout)
    manager.daemon.log.unlink(missing_ok=True)
    manager.begin_start()
    try:
        wait_until(
            lambda: manager.daemon.exit_code() is not None, "the ResourceManager's end", END_SECONDS
        )
    finally:
        manager.daemon.kill()
    assert manager.daemon.exit_code() != 0
    return manager.daemon.log.read_text().splitlines()


def one_line_with(lines: list[str], *words: str) -> None:
    """Asserts that a single line has every word."""
    found = [line for line in lines if all(word in line for word in words)]
    assert found, "\n".join(line for line in lines if re.search("ERROR|FATAL|Caused by", line))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("overcommit.max-ratio", "0.5"),
        ("overcommit.max-ratio", "twice"),
        ("usage.address", "nowhere"),
        ("starvation.wait-ms", "-1"),
    ],
)
def test_a_bad_value_is_named_with_its_key(
    settings: ClusterSettings, checkout: Checkout, key: str, value: str
) -> None:
    wrong = {f"yarn.scheduler.elastane.{key}": value}
    lines = refusal(replace(settings, resource_manager=wrong), checkout)
    one_line_with(lines, f"yarn.scheduler.elastane.{key}", value)


def test_a_key_that_does_not_exist_is_named(settings: ClusterSettings, checkout: Checkout) -> None:
    wrong = {"yarn.scheduler.elastane.no-such-key": "1"}
    lines = refusal(replace(settings, resource_manager=wrong), checkout)
    one_line_with(lines, "yarn.scheduler.elastane.no-such-key", "not a setting")


def test_an_unknown_mode_is_named_with_those_that_exist(
    settings: ClusterSettings, checkout: Checkout
) -> None:
    wrong = {"yarn.scheduler.elastane.mode": "sometimes"}
    lines = refusal(replace(settings, resource_manager=wrong), checkout)
    allowed = ("off", "observe", "advise", "enforce")
    one_line_with(lines, "yarn.scheduler.elastane.mode", "sometimes", *allowed)


def test_a_missing_library_is_named_with_where_it_was_looked_for(
    settings: ClusterSettings, checkout: Checkout
) -> None:
    missing = settings.work / "libelastane.so"
    lines = refusal(replace(settings, library=missing), checkout)
    one_line_with(lines, str(missing))


def test_a_library_of_another_version_is_refused_by_both_versions(
    settings: ClusterSettings, checkout: Checkout
) -> None:
    version = re.search(r"elastane-scheduler-(.+)\.jar", checkout.scheduler_jar.name)
    assert version is not None
    other = settings.work / "libelastane.so"
    ours = checkout.library.read_bytes()
    other.write_bytes(ours.replace(version.group(1).encode(), OTHER_VERSION.encode()))

    lines = refusal(replace(settings, library=other), checkout)

    one_line_with(lines, version.group(1), OTHER_VERSION, str(other))
