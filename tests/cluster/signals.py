"""Signals that end this process, while it must not be ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_termination() -> None:
    """Every signal that ends this process unwinds it, so that everything is stopped.

    SIGINT, too: a shell that starts a job in the background has it ignored.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in ENDING:
        signal.signal(number, interrupt)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Puts off the signals that would end this process; the end comes when the block is done.

    Only the main thread may set handlers; in another one nothing is put off.
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
