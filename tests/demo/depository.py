"""What the rounds learned, put together for the last one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cluster.paths import Checkout
from cluster.processes import ProcessEnded
from demo.rounds import LEARNED, OBSERVED


def merge_learned(checkout: Checkout, folder: Path) -> None:
    """Adds the runs of the round `learning` to those that were observed before it."""
    into, learned = folder / OBSERVED, folder / LEARNED
    command = [str(checkout.elastane), "depository", "merge", str(into), str(learned)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProcessEnded(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
        )
