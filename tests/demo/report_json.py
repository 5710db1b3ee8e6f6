"""target/demo/report.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from demo.result import RoundFigures, figures
from demo.rounds import BLIND_RATIO, MAX_RATIO, NODES, SHAPE
from demo.run import RoundOutcome
from demo.truth import as_json, claims
from demo.workloads import Arrival


@dataclass(frozen=True)
class About:
    """The report's part beside the rounds."""

    command: str
    versions: dict[str, str]
    quick: bool
    verdict: str
    notes: list[str]


def write_json(
    file: Path, about: About, outcomes: list[RoundOutcome], arrivals: list[Arrival]
) -> None:
    rounds = [figures(outcome) for outcome in outcomes]
    report = {
        "command": about.command,
        "quick": about.quick,
        "versions": about.versions,
        "verdict": about.verdict,
        "notes": about.notes,
        "nodes": {
            "count": NODES,
            **asdict(SHAPE),
            "blind_ratio": BLIND_RATIO,
            "max_ratio": MAX_RATIO,
        },
        "workload": [_arrival(arrival) for arrival in arrivals],
        "advice_against_truth": as_json(claims(rounds)),
        "rounds": [_round(outcome, one) for outcome, one in zip(outcomes, rounds, strict=True)],
    }
    file.write_text(json.dumps(report, indent=2) + "\n")


def _arrival(arrival: Arrival) -> dict[str, Any]:
    application = arrival.application
    return {
        "name": application.name,
        "after_s": arrival.after_seconds,
        "bottleneck": arrival.bottleneck,
        "script": application.script.name,
        "executors": application.executors,
        "executor_memory_mb": application.executor_memory_mb,
        "driver_memory_mb": application.driver_memory_mb,
    }


def _round(outcome: RoundOutcome, one: RoundFigures) -> dict[str, Any]:
    return {
        **asdict(one),
        "application_records": [
            {
                "id": record["id"],
                "name": record["name"],
                "final_status": record["finalStatus"],
                "completion_s": (record["finishedTime"] - record["startedTime"]) / 1000,
                "waited_s": (
                    (record["launchTime"] or record["finishedTime"]) - record["startedTime"]
                )
                / 1000,
                "diagnostics": record["diagnostics"],
            }
            for record in outcome.applications
        ],
        "counters": outcome.counters,
        "looks_missed": outcome.missed_looks,
    }
