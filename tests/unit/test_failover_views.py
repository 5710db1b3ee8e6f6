"""The failover suite finds whatever Elastane shows or has booked otherwise than YARN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from cluster.settings import MEBIBYTE
from failover import views

NODE = "localhost:1"
URL = "http://node"
CONTAINER = "container_1_0001_01_000001"
ENDED = "container_1_0001_01_000002"


@dataclass
class MadeUp:
    """One container on one node, in every answer of a ResourceManager."""

    in_yarn: dict[str, Any] = field(
        default_factory=lambda: {
            "id": NODE,
            "numContainers": 1,
            "usedMemoryMB": 512,
            "usedVirtualCores": 2,
        }
    )
    in_core: dict[str, Any] = field(
        default_factory=lambda: {
            "node": NODE,
            "containers": 1,
            "booked_memory_bytes": 512 * MEBIBYTE,
            "booked_vcores": 2,
        }
    )
    shown: dict[str, Any] = field(
        default_factory=lambda: {"node": NODE, "booked_memory_mb": 512, "booked_vcores": 2}
    )
    containers: list[dict[str, Any]] = field(
        default_factory=lambda: [{"container": CONTAINER, "planned": {"cpu_cores": 0.1}}]
    )
    leaf: dict[str, Any] = field(
        default_factory=lambda: {"resourcesUsed": {"memory": 512, "vCores": 2}}
    )
    label: dict[str, Any] = field(
        default_factory=lambda: {"booked_memory_mb": 512, "booked_vcores": 2}
    )

    def nodes(self) -> list[dict[str, Any]]:
        return [self.in_yarn]

    def status(self) -> dict[str, Any]:
        return {"nodes": [self.in_core]}

    def node_sizes(self) -> list[dict[str, Any]]:
        return [self.shown]

    def queues(self) -> list[dict[str, Any]]:
        return [{"queue": "root.default", "labels": [self.label]}]

    def elastane_rest(self, path: str) -> dict[str, Any]:
        assert path == f"nodes/{NODE}"
        return {"containers": self.containers}

    def yarn_rest(self, path: str) -> dict[str, Any]:
        assert path == "scheduler"
        return {"scheduler": {"schedulerInfo": {"queues": {"queue": [self.leaf]}}}}


WRONG: dict[str, Callable[[MadeUp], object]] = {
    "containers by id": lambda it: it.containers.append({"container": ENDED, "planned": {}}),
    "containers with a plan": lambda it: it.containers[0].update(planned=None),
    "booked by the core": lambda it: it.in_core.update(containers=2),
    "booked as shown": lambda it: it.shown.update(booked_memory_mb=768),
    "is missing": lambda it: it.in_core.update(node="localhost:2"),
    "queue: Elastane (768, 2)": lambda it: it.label.update(booked_memory_mb=768),
    "YARN (768, 2)": lambda it: it.leaf["resourcesUsed"].update(memory=768),
}


@pytest.fixture(autouse=True)
def _node_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    running = {"containers": {"container": [{"id": CONTAINER, "state": "RUNNING"}]}}
    monkeypatch.setattr(views, "get_json", lambda url: running)


def found(manager: MadeUp) -> list[str]:
    node = SimpleNamespace(node_id=NODE, url=URL)
    return views.differences(SimpleNamespace(resource_manager=manager, node_managers=[node]))


def test_equal_views_have_no_difference() -> None:
    assert found(MadeUp()) == []


@pytest.mark.parametrize("what", WRONG)
def test_each_difference_is_found(what: str) -> None:
    manager = MadeUp()
    WRONG[what](manager)
    assert any(what in difference for difference in found(manager))
