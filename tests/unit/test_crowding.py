"""The figures of `make bench-crowded`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crowding.figures import Figures, read

START_MS = 1_000_000


def placed(application: str, name: str, container: str, master: bool) -> dict[str, Any]:
    return {
        "kind": "placed",
        "time_ms": START_MS,
        "application": application,
        "application_name": name,
        "container": container,
        "application_master": master,
    }


def sampled(after_s: int, cores: float, *containers: str) -> dict[str, Any]:
    measured = {"used": {"cpu_cores": cores}, "sample_ms": 3000}
    used = [{"container": one, **measured} for one in containers]
    return {"kind": "node", "time_ms": START_MS + after_s * 1000, "containers": used}


def finished(after_s: int, container: str) -> dict[str, Any]:
    return {"kind": "finished", "time_ms": START_MS + after_s * 1000, "container": container}


def learned(application: str, *cores: float) -> dict[str, Any]:
    series = {"kind": "executor", "slot_ms": 3000, "cpu_cores": list(cores)}
    return {
        "application_id": application,
        "series": [{**series, "kind": "application-master"}, series],
    }


def test_measured_and_learned_are_compared_with_what_was_measured_alone(tmp_path: Path) -> None:
    journal, exported = tmp_path / "journal.jsonl", tmp_path / "profiles.json"
    events = [
        placed("app-1", "sort", "master-1", master=True),
        placed("app-1", "sort", "one", master=False),
        # Its processes start after 3 s and compute for 6 s.
        sampled(6, 1.0, "one", "master-1"),
        sampled(9, 1.0, "one", "master-1"),
        sampled(12, 0.0, "one", "master-1"),
        finished(12, "one"),
        finished(15, "master-1"),
        placed("app-2", "sort", "two", master=False),
        *(sampled(after, 0.25, "two") for after in range(3, 61, 3)),
        finished(60, "two"),
    ]
    journal.write_text("".join(json.dumps(one) + "\n" for one in events))
    runs = [learned("app-1", 1, 1, 0), learned("app-2", *[0.5] * 4, *[0] * 8)]
    exported.write_text(json.dumps({"runs": runs}))

    comparison = read(exported, journal, ["app-1"], {2: ["app-2"]})

    (row,) = comparison.rows[2]
    assert row.name == "sort"
    assert row.free == Figures(length_s=12, first_cores=2 / 3)
    assert row.crowded == Figures(length_s=60, first_cores=0.25)
    assert row.from_free == Figures(length_s=9, first_cores=2 / 3)
    assert row.from_crowded == Figures(length_s=36, first_cores=0.2)
    assert row.error(row.crowded, lambda one: one.length_s) == 4
    text = comparison.text()
    assert "+400.0%" in text
    assert "-70.0%" in text
