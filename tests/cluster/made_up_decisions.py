"""Decisions of the made-up answers."""

from __future__ import annotations

from typing import Any

from .made_up_container import NODE_MB, NODE_VCORES, application_id, container_id, node_name


def made_up_decision(number: int, time_ms: int, nodes: int, applications: int) -> dict[str, Any]:
    """The decision with this number, of a cluster of this size."""
    index = number % applications
    one = {"number": number, "time_ms": time_ms, "node": node_name(number % nodes)}
    queue = "root.etl.nightly" if index % 3 == 0 else "root.analysts"
    named = {"application": application_id(index), "queue": queue}
    name = {**named, "application_name": f"nightly-{index}"}
    container = {**name, "container": container_id(index, number % 90)}
    if number % 7 == 0:
        reason = "of memory, 1.5 GiB are short from 20 s on"
        return {**one, **named, "kind": "refused", "reason": reason}
    if number % 11 == 0:
        reason = "the predicted use of its containers leaves room above the registered size"
        return {**one, "kind": "bookable", "ratio": 1.206, "reason": reason}
    if number % 13 == 0:
        return {**one, **container, "kind": "reprovision", **_correction(number // 13)}
    if number % 17 == 0:
        return {**one, **container, "kind": "preemption", **_preemption(number // 17)}
    if number % 19 == 0:
        return {**one, **container, "kind": "migration", **_migration(number // 19)}
    return {
        **one,
        **container,
        "kind": "placed",
        "reason": "fits",
        "by_core": True,
        "application_master": False,
        "request_priority": 1,
        "profile": f"app|SPARK|root|root.etl|nightly-{index}|main.py|#",
        "by_others": False,
        "score": 0.0833,
        "considered": [
            {"application": application_id(index), "score": 0.0833, "verdict": "may-go"},
            {"application": None, "score": 0.125, "verdict": "would-delay-another"},
        ],
        "memory_bytes": 4 << 30,
        "vcores": 2,
        "booked_memory_bytes": NODE_MB << 20,
        "booked_vcores": 64,
        "physical_memory_bytes": NODE_MB << 20,
        "physical_vcores": NODE_VCORES,
    }


def _preemption(turn: int) -> dict[str, Any]:
    if turn % 2 == 0:
        reason = "the node is short of memory, and its application has the newest containers"
        amounts = {"resident_bytes": 3 << 30, "short_bytes": 1 << 30}
        return {"cause": "short-of-memory", "outcome": "preempted", "reason": reason, **amounts}
    reason = "its queue has more than its guarantee"
    return {"cause": "capacity-scheduler", "outcome": "told", "reason": reason}


def _migration(turn: int) -> dict[str, Any]:
    if turn % 2 == 0:
        reason = "the node is being decommissioned"
        return {"cause": "node-drained", "state": "leaves", "reason": reason}
    reason = "the node is short of memory"
    return {"cause": "short-of-memory", "state": "no-executor", "reason": reason}


def _correction(turn: int) -> dict[str, Any]:
    nothing = dict.fromkeys(("slowness", "slow", "predicted", "lent", "used", "factors", "reason"))
    if turn % 3 == 0:
        return {**nothing, "what": "opened", "slowness": 1.42, "slow": "behind"}
    if turn % 3 == 1:
        return {**nothing, "what": "measured", "factors": [1.5, 1, 1, 1]}
    return {**nothing, "what": "returned", "reason": "the container ended"}
