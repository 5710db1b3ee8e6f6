"""The recorded runs as the folder that `elastane-lab evaluate` reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from cluster.elastane_command import run_elastane_lab
from cluster.paths import Checkout


def write_folder(
    checkout: Checkout, depository: Path, output: Path, settings: dict[str, dict[str, float]]
) -> None:
    """Exports the executors' series; `settings` are by application id."""
    shutil.rmtree(output, ignore_errors=True)
    run_elastane_lab(checkout, "export-series", output, "--depository", depository)
    for file in output.glob("*/settings.json"):
        exported = json.loads(file.read_text())
        for run, about in exported["runs"].items():
            told = settings.get(about["application_id"])
            if told:
                exported[run] = told
        file.write_text(json.dumps(exported, indent=2) + "\n")
