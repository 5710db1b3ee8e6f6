"""What a contender's depository has at the start."""

from __future__ import annotations

import getpass
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from scale_model.contenders import HISTORY, TRUTH, Contender
from scale_model.scale import SLOT_S
from scale_model.workload import Application

RUNS = 2
"""The fewest runs that make a profile."""


def prepare(
    contender: Contender,
    depository: Path,
    history: Path | None,
    applications: Sequence[Application],
    checkout: Checkout,
) -> None:
    """Makes the depository anew; `history` is that of an earlier run."""
    for leftover in depository.parent.glob(f"{depository.name}*"):
        leftover.unlink()
    if contender.knows == HISTORY and history is not None:
        shutil.copy(history, depository)
    elif contender.knows == TRUTH:
        truth = depository.with_suffix(".truth.json")
        truth.write_text(json.dumps(_truth(applications)))
        run_elastane(checkout, "profiles", "import", truth, "--depository", depository)


def tags(contender: Contender, number: int) -> list[str]:
    """With the truth each submission is an application of its own."""
    return [f"elastane.profile=submission-{number}"] if contender.knows == TRUTH else []


def _truth(applications: Sequence[Application]) -> dict[str, object]:
    now_ms = round(time.time() * 1000)
    runs = []
    for number, application in enumerate(applications):
        mean_stretch = mean(application.stretches)
        alike = application.series.scaled(cpu=1, memory=1, network=0, disk=1, slot=mean_stretch)
        series = alike.resampled(SLOT_S)
        for run in range(RUNS):
            runs.append(
                {
                    "application_key": f"tag|{getpass.getuser()}|submission-{number}",
                    "application_id": f"application_1_{number * RUNS + run:04}",
                    "application_name": application.name,
                    "started_ms": now_ms - 3_600_000 * (run + 1),
                    "ended_ms": now_ms - 3_600_000 * run - 1,
                    "outcome": "succeeded",
                    "series": [
                        {
                            "kind": "executor",
                            "priority": 1,
                            "containers": application.executors,
                            "slot_ms": round(SLOT_S * 1000),
                            "cpu_cores": series.cpu_cores,
                            "memory_bytes": [round(one) for one in series.memory_bytes],
                            "network_bytes_per_s": series.network_bytes_per_s,
                            "disk_bytes_per_s": series.disk_bytes_per_s,
                        }
                    ],
                }
            )
    return {"format": "elastane-profiles", "version": 1, "runs": runs}
