"""What the containers of a node of the made-up answers used over the last quarter of an hour."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .made_up_container import amounts, application_id, container_id

STEPS = 45
STEP_MS = 20_000
# The newest report is newer.
NEWEST_STEP_AGE_MS = 5_000
# The number of steps of the history between the starts of two containers.
STEPS_APART = 5
# What each uses at a step, by its number on the node.
USED: dict[str, Callable[[int, int], float]] = {
    "cpu_cores": lambda step, number: 2 + math.sin(step / 7 + number),
    "memory_bytes": lambda step, number: (8 << 30) + step * (32 << 20),
    "network_bytes_per_s": lambda step, number: (1 + math.cos(step / 5 + number)) * 8e6,
    "disk_bytes_per_s": lambda step, number: 60e6 if (step + 7 * number) % 15 < 4 else 1e6,
}


def made_up_history(application: int, containers: int) -> dict[str, Any]:
    """The history of a node whose containers are all of one application, beside hidden ones."""
    return {
        "age_ms": [NEWEST_STEP_AGE_MS + STEP_MS * step for step in reversed(range(STEPS))],
        "containers": [_of_container(application, number) for number in range(containers)],
        "hidden": {
            **{name: [value] * STEPS for name, value in amounts(3.0, 12 << 30).items()},
            **{
                f"planned_{name}": [value] * STEPS for name, value in amounts(4.0, 14 << 30).items()
            },
        },
    }


def _of_container(application: int, number: int) -> dict[str, Any]:
    first = STEPS_APART * number

    def column(value: Callable[[int], float]) -> list[float | None]:
        return [None if step < first else value(step) for step in range(STEPS)]

    planned = amounts(2.5, 11 << 30)
    return {
        "container": container_id(application, number),
        "application": application_id(application),
        **{name: column(lambda step, of=of: of(step, number)) for name, of in USED.items()},
        **{
            f"planned_{name}": column(lambda _, value=value: value)
            for name, value in planned.items()
        },
    }
