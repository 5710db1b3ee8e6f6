"""Simulates the scale model's applications in each state, beside the plain alternatives.

python -m scale_model.alternatives
python -m scale_model.alternatives --state cpu-bound --seeds 10
"""

from __future__ import annotations

import sys

from scale_model.simulated_changes import Variant, parser, print_changes
from scale_model.states import STATES

BASELINE = "capacity"
COMPARED = ("x1.5", "x2", "x2.5", "x3", "right-sized", "learning", "profiles", "oracle")


def main() -> int:
    options = parser("scale_model.alternatives", __doc__, list(STATES), seeds=5)
    arguments = options.parse_args()
    variants = {name: Variant(name) for name in (BASELINE, *COMPARED)}
    corner = f"against {BASELINE}"
    return print_changes(arguments.state, arguments.seeds, Variant(BASELINE), variants, corner)


if __name__ == "__main__":
    sys.exit(main())
