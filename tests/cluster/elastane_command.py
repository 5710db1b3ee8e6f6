"""The built `elastane` command."""

from __future__ import annotations

import subprocess

from cluster.paths import Checkout
from cluster.processes import ProcessEnded


def run_elastane(checkout: Checkout, *arguments: object) -> str:
    """Returns the output. Raises ProcessEnded with the output if the command fails."""
    command = [str(checkout.elastane), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout
