"""Background work during a round."""

from __future__ import annotations

import threading
from types import TracebackType


class Background:
    """A context manager whose thread works until the block ends."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Background:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        """Returns when `_stop` is set."""
        raise NotImplementedError
