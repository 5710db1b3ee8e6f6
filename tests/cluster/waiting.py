"""Waiting for a condition with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class DeadlineMissed(Exception):
    """A condition did not hold in time."""


def wait_until(
    condition: Callable[[], T | None],
    what: str,
    seconds: float,
    every_seconds: float = 0.2,
) -> T:
    """Calls a function until its answer is truthy, and returns the answer.

    Raises DeadlineMissed with `what` and the last answer after `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() >= deadline:
            raise DeadlineMissed(f"not within {seconds:g} s: {what} (last seen: {answer!r})")
        time.sleep(every_seconds)
