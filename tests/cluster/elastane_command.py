"""The built `elastane` and `elastane-lab` commands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cluster.paths import Checkout
from cluster.processes import ProcessEnded


def run_elastane(
    checkout: Checkout, *arguments: object, environment: Mapping[str, str] | None = None
) -> str:
    """Returns the output. Raises ProcessEnded with the output if the command fails."""
    return _run(checkout.elastane, *arguments, environment=environment)


def run_elastane_lab(checkout: Checkout, *arguments: object) -> str:
    """The same with the laboratory's command."""
    return _run(checkout.elastane_lab, *arguments)


def _run(program: Path, *arguments: object, environment: Mapping[str, str] | None = None) -> str:
    command = [str(program), *map(str, arguments)]
    # All servers are on loopback.
    full = {**os.environ, "no_proxy": "*", **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=full)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout
