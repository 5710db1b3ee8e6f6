"""The scheduler's own records: one JSON object a line, written by the core."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def records(file: Path, kind: str | None = None) -> Iterator[dict[str, Any]]:
    """The records so far, oldest first; a line that is being written is left out."""
    if not file.is_file():
        return
    with file.open() as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            record = json.loads(line)
            if kind is None or record["kind"] == kind:
                yield record
