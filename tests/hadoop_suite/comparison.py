"""Compares a class's tests on Elastane with those on the stock scheduler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hadoop_suite.classes import MOCKED_APPLICATIONS
from hadoop_suite.outcomes import FINE, Attempt, Outcome, Status

STOCK = "stock"
# In this order; `stock` is CapacityScheduler.
MODES = (STOCK, "off", "observe", "enforce")


@dataclass
class ClassRun:
    """A class's tests in one mode: the first run, and that of the tests that did not pass."""

    class_name: str
    mode: str
    first: Attempt
    second: Attempt | None = None
    seconds: float = 0.0

    def attempts(self, test: str) -> list[Outcome]:
        """How a test ended, in order."""
        runs = [self.first] if self.second is None else [self.first, self.second]
        return [run.outcomes[test] for run in runs if test in run.outcomes]

    def fine(self, test: str) -> bool:
        """Whether one of the runs of a test passed or was left out by the test itself."""
        return any(outcome.status in FINE for outcome in self.attempts(test))

    @property
    def tests(self) -> list[str]:
        return list(self.first.outcomes)

    @property
    def passed(self) -> int:
        return sum(
            any(outcome.status == Status.PASSED for outcome in self.attempts(test))
            for test in self.tests
        )

    @property
    def ran(self) -> int:
        """All tests but those that left themselves out."""
        return sum(
            any(outcome.status != Status.SKIPPED for outcome in self.attempts(test))
            for test in self.tests
        )

    @property
    def failed(self) -> list[str]:
        return [test for test in self.tests if not self.fine(test)]

    @property
    def unsteady(self) -> list[str]:
        """The tests that passed at the second run only."""
        return [test for test in self.first.to_repeat() if self.fine(test)]

    def count(self, name: str) -> int:
        return self.first.counts.get(name, 0)

    @property
    def core_failed(self) -> bool:
        """Whether Elastane's core went out of service, which no test of Hadoop notices."""
        return self.count("cores_out_of_service") > 0

    @property
    def substituted(self) -> bool:
        """Whether a scheduler of ours was set up, and none of Hadoop's."""
        return self.count("substituted_schedulers") > 0 and self.count("stock_schedulers") == 0

    def to_json(self) -> dict[str, Any]:
        return {
            "class": self.class_name,
            "mode": self.mode,
            "seconds": round(self.seconds, 1),
            "first": self.first.to_json(),
            "second": None if self.second is None else self.second.to_json(),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> ClassRun:
        second = stored["second"]
        return cls(
            stored["class"],
            stored["mode"],
            Attempt.from_json(stored["first"]),
            None if second is None else Attempt.from_json(second),
            stored["seconds"],
        )


@dataclass
class Verdict:
    """What differs between the stock scheduler and ours."""

    regressions: list[tuple[ClassRun, str]] = field(default_factory=list)
    """Tests that fail with ours and pass on stock."""
    not_substituted: list[ClassRun] = field(default_factory=list)
    without_stock: list[ClassRun] = field(default_factory=list)
    """Runs with failures and without a run on stock to compare with."""
    not_completed: list[ClassRun] = field(default_factory=list)
    """Runs that show nothing: the JVM did not come to the tests, or none passed on stock."""
    out_of_service: list[ClassRun] = field(default_factory=list)
    """Runs in which Elastane's core failed, whatever the tests said."""

    @property
    def good(self) -> bool:
        return not (
            self.regressions
            or self.not_substituted
            or self.without_stock
            or self.not_completed
            or self.out_of_service
        )


def compare(runs: list[ClassRun]) -> Verdict:
    """The verdict over all runs of all modes."""
    stock = {run.class_name: run for run in runs if run.mode == STOCK}
    verdict = Verdict()
    for run in runs:
        if not run.tests or (run.mode == STOCK and run.passed == 0):
            verdict.not_completed.append(run)
        if run.mode == STOCK:
            continue
        if run.tests and not run.substituted:
            verdict.not_substituted.append(run)
        if run.core_failed and run.class_name not in MOCKED_APPLICATIONS:
            verdict.out_of_service.append(run)
        its_stock = stock.get(run.class_name)
        if its_stock is None:
            if run.failed:
                verdict.without_stock.append(run)
            continue
        # A parameterized test has its invocations only once it has run: look at both sides.
        for test in dict.fromkeys([*run.tests, *its_stock.tests]):
            if not run.fine(test) and its_stock.fine(test):
                verdict.regressions.append((run, test))
    return verdict
