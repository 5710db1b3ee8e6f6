"""The built `elastane` and `elastane-lab` commands."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from cluster.paths import Checkout
from cluster.processes import ProcessEnded


def run_elastane(checkout: Checkout, *arguments: object) -> str:
    """Returns the output. Raises ProcessEnded with the output if the command fails."""
    return _run(checkout.elastane, *arguments)


def run_elastane_lab(checkout: Checkout, *arguments: object) -> str:
    """The same with the laboratory's command."""
    return _run(checkout.elastane_lab, *arguments)


def _run(program: Path, *arguments: object) -> str:
    command = [str(program), *map(str, arguments)]
    # All servers are on loopback.
    environment = {**os.environ, "no_proxy": "*"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout
