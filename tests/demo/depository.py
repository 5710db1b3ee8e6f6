"""Merges the runs that the rounds learned."""

from __future__ import annotations

from pathlib import Path

from cluster.elastane_command import run_elastane
from cluster.paths import Checkout
from demo.rounds import LEARNED, OBSERVED


def merge_learned(checkout: Checkout, folder: Path) -> bool:
    """Adds the runs of the round `learning` to those observed before; false if it was not run."""
    if not (folder / LEARNED).exists():
        return False
    run_elastane(checkout, "depository", "merge", folder / OBSERVED, folder / LEARNED)
    return True
