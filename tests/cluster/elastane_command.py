"""The `elastane` command that was built."""

from __future__ import annotations

import subprocess

from cluster.paths import Checkout
from cluster.processes import ProcessEnded


def run_elastane(checkout: Checkout, *arguments: object) -> str:
    """Returns what it printed. Raises ProcessEnded with what it said when it failed."""
    command = [str(checkout.elastane), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout
