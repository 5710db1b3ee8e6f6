"""Answers of the REST for the page: those of a cluster that is too large for one machine. They are
made up; a test checks them by the REST's description."""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import Any

from .made_up_container import (
    NODE_MB,
    NODE_VCORES,
    STARTED,
    amounts,
    application_id,
    made_up_container,
    node_name,
)
from .made_up_decisions import made_up_decision
from .made_up_history import made_up_history

NODES = 5_000
APPLICATIONS = 300
WAITING_EVERY = 10
CONTAINERS_OF_NODE = 12
NODE_BYTES_PER_S = 1_250_000_000
END = {"at_ms": STARTED + 90_000, "earliest_ms": STARTED, "latest_ms": STARTED + 99_000, "runs": 3}
HISTORY = 1_080
STEP_MS = 10_000


class Answers:
    """Made-up answers of the REST."""

    def __init__(
        self, nodes: int = NODES, applications: int = APPLICATIONS, decisions_each_round: int = 10
    ) -> None:
        self._nodes = nodes
        self._applications = applications
        self._decisions_each_round = decisions_each_round
        self.hides_decisions = False
        self.rounds = 0
        self._newest_decision = 10_000

    def of(self, path: str, query: dict[str, str]) -> Any | None:
        """None for an unknown path."""
        fixed = {
            "status": self.status,
            "sizes": lambda: {"cluster": self._cluster, "labels": self._labels},
            "queues": lambda: self._page("queues", self.queues),
            "history": self.history,
            "plan": lambda: {"nodes": self._nodes, "planned": self._plan(self._nodes)},
            "nodes": lambda: self._page("nodes", self.nodes),
            "applications": lambda: {**self._page("applications", self.applications), "hidden": 2},
            "profiles": lambda: self._page("profiles", self.profiles),
            "decisions": lambda: self.decisions(query),
        }
        if path in fixed:
            return fixed[path]()
        kind, _, name = path.partition("/")
        if kind == "nodes":
            found = [index for index, it in enumerate(self.nodes) if it["node"] == name]
            return self.node(found[0]) if found else None
        found = [it for it in self.applications if it["application"] == name]
        if kind != "applications" or not found:
            return None
        index = int(name.rpartition("_")[2])
        return {**found[0], "containers": [made_up_container(index, it, index) for it in range(8)]}

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        return [self._node(index) for index in range(self._nodes)]

    @cached_property
    def applications(self) -> list[dict[str, Any]]:
        return [self._application(index) for index in reversed(range(self._applications))]

    @cached_property
    def profiles(self) -> list[dict[str, Any]]:
        return [
            {
                "profile": f"app|SPARK|root|root.etl|nightly-{index}|main.py|#",
                "runs": 3 + index,
                "length_ms": 600_000 + 1000 * index,
                "used_ms": STARTED,
                "kinds": [
                    {
                        "kind": "executor",
                        "request_priority": 1,
                        "confidence": 0.5 + index / 100,
                        "margin_percent": 25.0,
                        "stages": index % 5,
                        "peak": amounts(1.5, 3 << 30),
                        "mean": amounts(0.8, 2 << 30),
                    }
                ],
            }
            for index in range(40)
        ]

    @cached_property
    def queues(self) -> list[dict[str, Any]]:
        part = {"label": "", "capacity_percent": 40.0, "maximum_capacity_percent": 100.0}
        return [
            {
                "queue": path,
                "mode": "enforce",
                "state": "RUNNING",
                "applications": 60,
                "labels": [{**part, **sizes(self._nodes // 5, 0.5)}],
            }
            for path in ("root", "root.etl", "root.etl.nightly", "root.analysts", "root.default")
        ]

    def status(self) -> dict[str, Any]:
        waiting = [it for it in self.applications if it["waiting"]]
        silent = sum(not self._is_fresh(index) for index in range(self._nodes))
        return {
            "in_service": True,
            "mode": "enforce",
            "nodes_enforced": self._nodes,
            "agents_fresh": self._nodes - silent,
            "agents_silent": silent,
            "containers": CONTAINERS_OF_NODE * self._nodes,
            "predicted_containers": 10 * self._nodes,
            "mean_margin_percent": 22.5,
            "waiting_applications": len(waiting) + 2,
            "waiting_containers": 40 * len(waiting),
            "refused_commits": 17,
            "depository_in_service": True,
            "journal_in_service": True,
            "learner_alive": True,
            "nodes": [],
            "waiting": [],
        }

    def history(self) -> dict[str, Any]:
        now = round(time.time() * 1000)
        turns = [math.sin(index / 60) for index in range(HISTORY)]
        fixed = {
            "nodes": self._nodes,
            "nodes_raised": self._nodes // 2,
            "nodes_measured": self._nodes,
            "physical_memory_mb": NODE_MB * self._nodes,
            "physical_vcores": NODE_VCORES * self._nodes,
            **measured_sizes(self._nodes),
        }
        moving = {
            "bookable_memory_mb": (NODE_MB, 1.35),
            "booked_memory_mb": (NODE_MB, 1.2),
            "above_memory_mb": (NODE_MB, 0.25),
            "planned_memory_mb": (NODE_MB, 0.72),
            "used_memory_mb": (NODE_MB, 0.6),
            "bookable_vcores": (NODE_VCORES, 1.6),
            "booked_vcores": (NODE_VCORES, 1.3),
            "planned_cpu_cores": (NODE_VCORES, 0.7),
            "planned_network_bytes_per_s": (NODE_BYTES_PER_S, 0.3),
            "planned_disk_bytes_per_s": (NODE_BYTES_PER_S, 0.5),
            "used_cpu_cores": (NODE_VCORES, 0.58),
            "used_network_bytes_per_s": (NODE_BYTES_PER_S, 0.25),
            "used_disk_bytes_per_s": (NODE_BYTES_PER_S, 0.45),
        }
        return {
            "step_ms": STEP_MS,
            "time_ms": [now - STEP_MS * (HISTORY - 1 - index) for index in range(HISTORY)],
            **{name: [value] * HISTORY for name, value in fixed.items()},
            **{
                name: [round(self._nodes * size * (share + 0.1 * turn)) for turn in turns]
                for name, (size, share) in moving.items()
            },
        }

    def node(self, index: int) -> dict[str, Any]:
        application = index % self._applications
        names = [(application, number) for number in range(CONTAINERS_OF_NODE)]
        return {
            **self.nodes[index],
            "capacity": {
                **amounts(NODE_VCORES / 2, NODE_MB << 20),
                "network_bytes_per_s": NODE_BYTES_PER_S,
                "disk_bytes_per_s": NODE_BYTES_PER_S,
            },
            "planned": self._plan(1),
            "containers": [made_up_container(*name, index) for name in names],
            "hidden_containers": 2,
            "arrivals": [{"application": application_id(0), "name": "nightly-0", "in_ms": 42_000}],
            "history": made_up_history(application, CONTAINERS_OF_NODE),
        }

    def decisions(self, query: dict[str, str]) -> dict[str, Any]:
        """More each time that the newest ones are asked for, as a busy cluster has."""
        if "before" not in query:
            self._newest_decision += self._decisions_each_round
            self.rounds += 1
        newest = self._newest_decision
        first = min(newest, int(query.get("before", newest + 1)) - 1)
        now = round(time.time() * 1000)
        found = []
        for number in range(first, max(0, first - 2_000), -1):
            time_ms = now - 1_000 * (newest - number)
            one = made_up_decision(number, time_ms, self._nodes, self._applications)
            if is_asked_for(one, query):
                found.append(one)
        shown = found[: int(query.get("limit", 100))]
        end = shown[-1]["number"] if shown else None
        # As REST does, after the page was cut.
        shown = [one for one in shown if not self.hides_decisions]
        return {"decisions": shown, "next_before": end, "newest": newest, "numbering": 7}

    @staticmethod
    def _is_fresh(index: int) -> bool:
        return index % 97 != 5

    def _node(self, index: int) -> dict[str, Any]:
        share = 0.5 + 0.45 * math.sin(index / 30) * math.cos(index / 7)
        measured = measured_sizes(1)
        return {
            "node": node_name(index),
            "label": "gpu" if index % 20 == 0 else "",
            "mode": "enforce",
            "is_raised": index % 2 == 0,
            "report_age_ms": 1_500 if self._is_fresh(index) else 125_000,
            "report_is_fresh": self._is_fresh(index),
            **(measured if self._is_fresh(index) else dict.fromkeys(measured)),
            **sizes(1, share),
        }

    def _application(self, index: int) -> dict[str, Any]:
        waits = index % WAITING_EVERY == 0
        start = {"in_ms": 42_000, "last_in_ms": 300_000, "containers": 12}
        ours = index % 20 != 0
        waiting = {
            "containers": 40,
            "for_ms": 95_000,
            "request_priority": 1,
            "reason": "no node has room for its plan: of memory, 1.5 GiB are short on the best one",
            "limit_of": "elastane" if ours else "capacity-scheduler",
            "capacity_scheduler_says": None if ours else "Queue's AM resource limit exceeded.",
            "node": node_name(1),
            "expected_start": {"in_ms": 45_000, "is_rough": index % 3 == 0},
            "planned_start": {"node": node_name(7 % self._nodes), **start},
            "deadline": {"at_ms": STARTED + 9_000_000, "chance": 0.92},
        }
        return {
            "application": application_id(index),
            "name": "<b>bold</b><script>fail()</script>" if index == 7 else f"nightly-{index}",
            "user": "etl" if index % 3 else "analyst",
            "queue": "root.etl.nightly",
            "type": "SPARK",
            "state": "waiting" if waits else "running",
            "yarn_state": "RUNNING",
            "submitted_ms": STARTED,
            "progress_percent": 42.5,
            "running_containers": 8,
            "booked_memory_mb": 32_768,
            "booked_vcores": 16,
            "waiting": waiting if waits else None,
            "predicted_end": None if waits else END,
        }

    @property
    def _cluster(self) -> dict[str, Any]:
        return self._counted(self._nodes)

    @property
    def _labels(self) -> list[dict[str, Any]]:
        labelled = self._nodes // 20
        return [
            {"label": "", **self._counted(self._nodes - labelled)},
            {"label": "gpu", **self._counted(labelled)},
        ]

    @staticmethod
    def _counted(nodes: int) -> dict[str, Any]:
        numbers = {"nodes": nodes, "nodes_raised": nodes // 2, "nodes_measured": nodes}
        above = round(NODE_MB * nodes * 0.25)
        return {
            **numbers,
            **sizes(nodes, 0.6),
            "above_memory_mb": above,
            **measured_sizes(nodes),
        }

    @staticmethod
    def _plan(nodes: int) -> dict[str, Any]:
        falling = [nodes * (1 - slot / 400) for slot in range(200)]
        return {
            "slot_ms": 3_000,
            "cpu_cores": [40 * share for share in falling],
            "memory_bytes": [(NODE_MB << 20) * 0.72 * share for share in falling],
            "network_bytes_per_s": [NODE_BYTES_PER_S * 0.25 * share for share in falling],
            "disk_bytes_per_s": [NODE_BYTES_PER_S * 0.5 * share for share in falling],
        }

    @staticmethod
    def _page(name: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
        return {"total": len(entries), "offset": 0, name: entries}


def is_asked_for(decision: dict[str, Any], query: dict[str, str]) -> bool:
    """Whether the filters let a decision through; a queue stands for those below it, too."""
    if "queue" in query:
        queue = decision.get("queue", "")
        if queue != query["queue"] and not queue.startswith(f"{query['queue']}."):
            return False
    return all(
        decision.get(key) == query[key] for key in query.keys() - {"before", "limit", "queue"}
    )


def measured_sizes(nodes: int) -> dict[str, float]:
    """The sizes that agents measure and YARN does not know."""
    return {
        "physical_cpu_cores": NODE_VCORES / 2 * nodes,
        "physical_network_bytes_per_s": NODE_BYTES_PER_S * nodes,
        "physical_disk_bytes_per_s": NODE_BYTES_PER_S * nodes,
    }


def sizes(nodes: int, used: float) -> dict[str, Any]:
    return {
        "physical_memory_mb": NODE_MB * nodes,
        "physical_vcores": NODE_VCORES * nodes,
        "bookable_memory_mb": round(NODE_MB * nodes * 1.35),
        "bookable_vcores": round(NODE_VCORES * nodes * 1.6),
        "booked_memory_mb": round(NODE_MB * nodes * 2 * used),
        "booked_vcores": round(NODE_VCORES * nodes * 2 * used),
        "planned_memory_mb": round(NODE_MB * nodes * used * 1.2),
        "planned_cpu_cores": round(NODE_VCORES * nodes * used * 1.2, 3),
        "planned_network_bytes_per_s": round(NODE_BYTES_PER_S * nodes * used * 0.3),
        "planned_disk_bytes_per_s": round(NODE_BYTES_PER_S * nodes * used * 0.6),
        "used_memory_mb": round(NODE_MB * nodes * used),
        "used_cpu_cores": round(NODE_VCORES * nodes * used, 3),
        "used_network_bytes_per_s": round(NODE_BYTES_PER_S * nodes * used * 0.2),
        "used_disk_bytes_per_s": round(NODE_BYTES_PER_S * nodes * used * 0.5),
    }
