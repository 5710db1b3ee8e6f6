"""Made-up answers of the REST in mode advise: what a replay of the record says."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

from .made_up_answers import Answers
from .made_up_container import STARTED, application_id

REPLAYED = 500
MORE = 234
NODE_HOURS = 4.5


class AdvisingAnswers(Answers):
    """Those of a cluster in mode advise."""

    def __init__(self, nodes: int = 10, applications: int = 10) -> None:
        super().__init__(nodes, applications)
        self.mode = "advise"
        self.asked = 0
        self.is_working = False

    def of(self, path: str, query: dict[str, str]) -> Any | None:
        if path != "advice":
            return super().of(path, query)
        self.asked += 1
        return {
            "is_recording": True,
            "is_working": self.is_working,
            "advice": None if self.is_working else self.advice,
            "failure": None,
        }

    def status(self) -> dict[str, Any]:
        return {**super().status(), "mode": self.mode, "nodes_enforced": 0}

    @cached_property
    def advice(self) -> dict[str, Any]:
        return {
            "as_of_ms": round(time.time() * 1000),
            "took_s": 12.4,
            "since_ms": STARTED,
            "problem": None,
            "applications": REPLAYED + MORE,
            "containers": 9_876,
            "not_compared": 12,
            "first_runs": 40,
            "left_out": 3,
            "recorded": _figures(23_760, 1_430, 312, 164.5),
            "capacity": _figures(23_300, 1_480, 330, 161.0),
            "enforce": _figures(22_100, 1_110, 95, 142.0),
            "replay_error": {"mean_completion": 0.035, "makespan": -0.019},
            "containers_earlier": 3_210,
            "mean_earlier_s": 110.5,
            "queues": [
                {"queue": queue, "applications": 180, **_completion(2_400, saving)}
                for queue, saving in (
                    ("root.etl", 600),
                    ("root.etl.nightly", 320.5),
                    ("root.analysts", -4.2),
                    ("root.default", 0),
                )
            ],
            "by_application": [
                {
                    "id": application_id(index),
                    "name": "<b>bold</b>" if index == 1 else f"nightly-{index}",
                    "user": "etl",
                    "queue": "root.etl.nightly",
                    "submitted_ms": STARTED + 60_000 * index,
                    **_completion(1_500, 900 - 2 * index),
                }
                for index in range(REPLAYED)
            ],
            "more_applications": MORE,
            "assumptions": [
                "A container runs as long on another node as it ran where it was measured.",
                "An application submits its requests in the order of the record.",
            ],
        }


def _figures(
    makespan: float, completion: float, wait: float, node_hours: float
) -> dict[str, float]:
    return {
        "makespan_s": makespan,
        "mean_completion_s": completion,
        "mean_wait_s": wait,
        "node_hours": node_hours,
    }


def _completion(capacity: float, saving: float) -> dict[str, float]:
    return {
        "containers": 24,
        "containers_earlier": 8,
        "mean_earlier_s": 95.5,
        "recorded_completion_s": 0.97 * capacity,
        "capacity_completion_s": capacity,
        "enforce_completion_s": capacity - saving,
        "recorded_node_hours": 0.98 * NODE_HOURS,
        "capacity_node_hours": NODE_HOURS,
        "enforce_node_hours": NODE_HOURS * (1 - saving / capacity),
    }
