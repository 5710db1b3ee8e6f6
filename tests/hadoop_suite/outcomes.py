"""What a JVM with one test class left: an outcome for each test, and the counts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Status(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    HUNG = "hung"
    """It was running when the JVM ended."""
    NOT_RUN = "not run"


# Passed or left out by the test itself.
FINE = (Status.PASSED, Status.SKIPPED)
_OF_JUNIT = {
    "successful": Status.PASSED,
    "failed": Status.FAILED,
    "aborted": Status.SKIPPED,
}


@dataclass
class Outcome:
    """One test that ran once."""

    test: str
    """JUnit's unique id."""
    status: Status
    seconds: float = 0.0
    error: str = ""
    trace: str = ""


@dataclass
class Attempt:
    """What one JVM did."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    ended: bool = False
    """Whether JUnit came to its end."""

    def of(self, status: Status) -> list[Outcome]:
        return [outcome for outcome in self.outcomes.values() if outcome.status == status]

    def to_repeat(self) -> list[str]:
        """The tests that did not pass."""
        return [test for test, outcome in self.outcomes.items() if outcome.status not in FINE]

    def to_json(self) -> dict[str, Any]:
        return {
            "outcomes": [asdict(outcome) for outcome in self.outcomes.values()],
            "counts": self.counts,
            "ended": self.ended,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Attempt:
        outcomes = [
            Outcome(**{**outcome, "status": Status(outcome["status"])})
            for outcome in stored["outcomes"]
        ]
        by_test = {outcome.test: outcome for outcome in outcomes}
        return cls(by_test, stored["counts"], stored["ended"])


def read(file: Path) -> Attempt:
    """Reads the listener's lines; a JVM that was killed may have left the last one incomplete."""
    attempt = Attempt()
    if not file.is_file():
        return attempt
    planned: list[str] = []
    skipped_parts: dict[str, str] = {}
    for text in file.read_text(errors="replace").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if line["kind"] == "planned":
            planned = line["tests"]
        elif line["kind"] == "started":
            attempt.outcomes[line["id"]] = Outcome(line["id"], Status.HUNG)
        elif line["kind"] == "skipped":
            skipped_parts[line["id"]] = line["reason"]
        elif line["kind"] == "finished":
            attempt.outcomes[line["id"]] = Outcome(
                line["id"],
                _OF_JUNIT[line["status"]],
                line["seconds"],
                line.get("error", ""),
                line.get("trace", ""),
            )
        else:
            attempt.ended = True
        attempt.counts = line.get("counts", attempt.counts)
    for test in planned:
        if test in attempt.outcomes:
            continue
        reason = next(
            (why for part, why in skipped_parts.items() if (test + "/").startswith(part + "/")),
            None,
        )
        attempt.outcomes[test] = (
            Outcome(test, Status.NOT_RUN)
            if reason is None
            else Outcome(test, Status.SKIPPED, error=reason)
        )
    return attempt


def name_of(test: str) -> str:
    """A readable name from JUnit's unique id, as `testX` or `[2]testX[1]`."""
    name = ""
    before = ""
    for kind, value in re.findall(r"\[([a-z-]+):([^\]]*)\]", test):
        if kind in ("method", "test-template", "test-factory"):
            name = value.partition("(")[0]
        elif kind == "test-template-invocation":
            name += f"[{value.lstrip('#')}]"
        elif kind == "class-template-invocation":
            before = f"[{value.lstrip('#')}]"
    return before + name or "(class)"
