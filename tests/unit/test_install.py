"""The archive, its pages and its example configurations are consistent."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "yarn-site-examples").glob("*/*.xml"))
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")
# The content of `make dist`; a page in the archive must not link out of it.
PACKED = (
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs",
    "grafana",
    "yarn-site-examples",
    "nodemanager-hook",
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_in_the_checkout_and_in_the_archive(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        target = (page.parent / link).resolve()
        assert target.exists(), link
        assert target.relative_to(ROOT).parts[0] in PACKED, f"{link} is not in the archive"


def test_the_unit_starts_the_agent_where_the_readme_puts_it() -> None:
    (folder,) = re.findall(r"install bin/\$\(uname -m\)/elastane-agent (\S+)/", README)
    (configuration,) = re.findall(r"install -D -m 644 nodemanager-hook/agent.toml (\S+)", README)
    agent = f"{folder}/elastane-agent"
    commands = {key: value for key, value in _unit("Service") if key.startswith("Exec")}
    assert commands == {
        "ExecStartPre": f"{agent} check-config {configuration}",
        "ExecStart": f"{agent} run --config {configuration}",
        "ExecStopPost": f"{agent} restore --config {configuration}",
    }


def test_the_unit_never_gives_up_and_keeps_the_journal_between_starts() -> None:
    # systemd ignores a key outside of its section, with a warning.
    assert ("StartLimitIntervalSec", "0") in _unit("Unit")
    service = _unit("Service")
    assert ("Restart", "always") in service
    assert ("RuntimeDirectoryPreserve", "yes") in service


def test_the_unit_hides_no_home_that_may_hold_local_directories() -> None:
    assert ("ProtectHome", "read-only") in _unit("Service")


def test_the_readme_names_the_archive_and_the_jar_of_this_version() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    (version,) = re.findall(r'^version = "(.+)"$', manifest, re.MULTILINE)
    assert f"target/elastane-{version}.tar.gz" in README
    assert f"lib/elastane-scheduler-{version}.jar" in README


def test_what_the_readme_sets_is_what_the_minimal_example_sets() -> None:
    in_readme = _properties(*re.findall(r"```xml\n(.*?)```", README, re.DOTALL))
    minimal = _properties(
        *(example.read_text() for example in EXAMPLES if example.parent.name == "minimal")
    )
    assert in_readme.keys() <= minimal.keys()
    differing = {key for key in in_readme if in_readme[key] != minimal[key]}
    assert differing <= {"yarn.scheduler.elastane.depository.file"}


@pytest.mark.parametrize("folder", sorted({example.parent.name for example in EXAMPLES}))
def test_every_example_recovers_what_runs(folder: str) -> None:
    texts = [example.read_text() for example in EXAMPLES if example.parent.name == folder]
    properties = _properties(*texts)
    assert properties["yarn.resourcemanager.recovery.enabled"] == "true"
    assert properties["yarn.nodemanager.recovery.enabled"] == "true"


def _unit(section: str) -> list[tuple[str, str]]:
    text = (ROOT / "nodemanager-hook" / "elastane-agent.service").read_text()
    (body,) = re.findall(rf"^\[{section}\]\n(.*?)(?=^\[|\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^(\w+)=(.*)$", body, re.MULTILINE)


def _properties(*texts: str) -> dict[str, str]:
    found = {}
    for text in texts:
        body = text if "<configuration" in text else f"<configuration>{text}</configuration>"
        for one in ElementTree.fromstring(body.encode()).iter("property"):
            found[one.findtext("name", "")] = one.findtext("value", "").strip()
    return found
