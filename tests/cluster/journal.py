"""Decision records of the core and the agents: one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """The records so far, oldest first, without an unfinished last line."""
    if not file.is_file():
        return
    with file.open() as written:
        for line in written:
            if not line.endswith("\n"):
                return
            yield json.loads(line)


def records(file: Path, kind: str | None = None) -> Iterator[dict[str, Any]]:
    """The records of the core's journal."""
    return (record for record in lines(file) if kind is None or record["kind"] == kind)
