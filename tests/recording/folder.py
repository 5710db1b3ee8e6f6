"""The recorded runs as the folder that `elastane evaluate` reads."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from cluster.paths import Checkout
from cluster.processes import ProcessEnded


def write_folder(
    checkout: Checkout, depository: Path, output: Path, settings: dict[str, dict[str, float]]
) -> None:
    """Exports the executors' series; `settings` are by application id."""
    shutil.rmtree(output, ignore_errors=True)
    command = [str(checkout.elastane), "profiles", "export", "--all"]
    command += ["--series", str(output), "--depository", str(depository)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    for file in output.glob("*/settings.json"):
        exported = json.loads(file.read_text())
        for run, about in exported["runs"].items():
            told = settings.get(about["application_id"])
            if told:
                exported[run] = told
        file.write_text(json.dumps(exported, indent=2) + "\n")
