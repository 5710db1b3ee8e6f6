"""Shows the current work in one line."""

from __future__ import annotations

import sys
import time

LINE_EVERY_SECONDS = 15.0


class ProgressLine:
    """Rewrites one line on a terminal; prints a line every 15 s elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._started = time.monotonic()
        self._printed = float("-inf")
        self._topic = ""

    def __call__(self, text: str) -> None:
        elapsed = int(time.monotonic() - self._started)
        line = f"[{elapsed // 60:2d}:{elapsed % 60:02d}] {text}"
        if self._terminal:
            print(f"\r\x1b[K{line}", end="", flush=True)
            return
        # The first line of a new step is printed at once.
        now, topic = time.monotonic(), text.partition(" s, ")[0].rstrip("0123456789 ")
        if topic != self._topic or now - self._printed >= LINE_EVERY_SECONDS:
            print(line, flush=True)
            self._printed, self._topic = now, topic

    def done(self) -> None:
        if self._terminal:
            print()
