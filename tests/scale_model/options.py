"""Values of the scale model's options."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}, a whole number from 1 on is allowed")
    return int(text)
