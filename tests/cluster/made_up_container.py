"""A container of the made-up answers, with its names and amounts."""

from __future__ import annotations

import time
from typing import Any

STARTED = 1_763_736_000_000
NODE_MB = 262_144
NODE_VCORES = 64


def node_name(index: int) -> str:
    return f"node-{index:04}.example.com:45454"


def application_id(index: int) -> str:
    return f"application_{STARTED}_{index:04}"


def container_id(application: int, number: int) -> str:
    return f"container_{STARTED}_{application:04}_01_{number:06}"


def made_up_container(application: int, number: int, node: int) -> dict[str, Any]:
    limits = ("weight_cores", "cap_cores", "memory_bytes", "disk_bytes_per_s")
    network = ("network_weight_bytes_per_s", "network_bytes_per_s")
    now = round(time.time() * 1_000)
    return {
        "container": container_id(application, number),
        "application": application_id(application),
        "node": node_name(node),
        "application_master": number == 0,
        "request_priority": None if number == 0 else 1,
        "running_for_ms": 754_000,
        "ends_in_ms": None if number == 0 else 305_000,
        "requested_memory_bytes": 16 << 30,
        "requested_vcores": 4,
        "profile": None if number == 0 else "app|SPARK|root|root.etl|nightly|main.py|#",
        "by_others": number == 0,
        "margin_percent": 22.5,
        "corrected_by": [1, 1, 1, 1],
        "planned": amounts(2.5, 11 << 30),
        "measured": {
            "age_ms": 1_200,
            "used": amounts(2.1, 9 << 30),
            "sample_ms": 1_000,
            "cpu_throttled": 0,
            "cpu_waited_cores": 0,
            "anonymous_bytes": 8 << 30,
            "file_bytes": 1 << 30,
            "heap_used_bytes": 4 << 30,
            "heap_committed_bytes": 6 << 30,
            **{f"limit_{name}": None for name in (*limits, *network)},
            "limit_weight_cores": 2.5,
            "limit_memory_bytes": 16 << 30,
            "stages_ended": None if number == 0 else 12,
        },
        "limits": [
            {
                "limit": "cpu_weight_cores",
                "in_force": 2.5,
                "planned": 2.5,
                "next": 1.0,
                "next_in_ms": 42_000,
                "why": "what is planned for now, margin included",
            },
            {
                "limit": "memory_bytes",
                "in_force": 16 << 30,
                "planned": 16 << 30,
                "next": None,
                "next_in_ms": None,
                "why": "the request, since the predicted end is near or past",
            },
        ],
        "limit_changes": [
            {
                "at_ms": now - 300_000,
                "limit": "memory_bytes",
                "from": 11 << 30,
                "to": 16 << 30,
                "why": "its predicted end is near or past: its request",
            },
            {
                "at_ms": now - 751_000,
                "limit": "cpu_weight_cores",
                "from": None,
                "to": 2.5,
                "why": "the first plan for the container since it started",
            },
        ],
    }


def amounts(cpu_cores: float, memory_bytes: int) -> dict[str, float]:
    flows = {"network_bytes_per_s": 1e6, "disk_bytes_per_s": 2e6}
    return {"cpu_cores": cpu_cores, "memory_bytes": memory_bytes, **flows}
