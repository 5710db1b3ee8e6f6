"""How a program that runs a cluster ends."""

from __future__ import annotations

import sys
from types import TracebackType

from cluster.cgroups import CannotHold
from cluster.paths import MissingArtifact
from cluster.processes import ProcessEnded
from cluster.signals import interrupt_on_termination
from cluster.waiting import DeadlineMissed
from demo.progress import ProgressLine

INTERRUPTED = 130
EXPECTED = (CannotHold, DeadlineMissed, MissingArtifact, ProcessEnded)


class Ending:
    """A context manager around the work. An expected problem and an interruption end it with one
    line and an exit code."""

    def __init__(
        self,
        work: str,
        progress: ProgressLine,
        *expected: type[Exception],
        interrupted: str = "everything that was started has been stopped",
    ) -> None:
        """`expected` are exceptions beside `EXPECTED` whose messages say what failed and where."""
        self._work = work
        self._progress = progress
        self._expected = (*EXPECTED, *expected)
        self._interrupted = interrupted
        self.exit_code = 0

    def __enter__(self) -> Ending:
        interrupt_on_termination()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if problem is None:
            self._progress.done()
            return False
        if isinstance(problem, KeyboardInterrupt):
            message, self.exit_code = f"interrupted; {self._interrupted}", INTERRUPTED
        elif isinstance(problem, self._expected):
            message, self.exit_code = f"{self._work} could not be finished: {problem}", 1
        else:
            return False
        self._progress.done()
        print(message, file=sys.stderr)
        return True
