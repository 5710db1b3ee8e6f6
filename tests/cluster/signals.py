"""Handles signals that end this process, and defers them during a clean-up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_termination() -> None:
    """Makes every ending signal unwind this process, so that everything is stopped.

    Includes SIGINT, which shells ignore for background jobs.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in ENDING:
        signal.signal(number, interrupt)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Defers ending signals until the block is done.

    Only the main thread may set handlers; in another thread nothing is deferred.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, remember) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if arrived:
        raise KeyboardInterrupt
