"""Simulates the scale model's applications with one rule or setting of Elastane changed at a time.

python -m scale_model.ablation
python -m scale_model.ablation --state cpu-bound --seeds 3
"""

from __future__ import annotations

import sys

from scale_model.simulated_changes import Variant, parser, print_changes

CHANGES: dict[str, tuple[str, ...]] = {
    "new applications at their requests": ("--others", "off"),
    "peaks of CPU and disk must fit": ("--peaks", "strict"),
    "no margin": ("--margin", "0"),
    "starvation after 60 s": ("--starvation-wait-ms", "60000"),
    "starvation after a day": ("--starvation-wait-ms", "86400000"),
    "nodes at most at twice their size": ("--max-ratio", "2"),
    "nodes at most at ten times": ("--max-ratio", "10"),
    "favor makespan: no starts planned": ("--favor", "makespan"),
    "favor completion": ("--favor", "completion"),
}
STATES_WITH_A_GAIN = ["memory-bound", "cpu-bound", "disks", "grown"]


def main() -> int:
    options = parser("scale_model.ablation", __doc__, STATES_WITH_A_GAIN, seeds=10)
    options.add_argument("--contender", choices=["learning", "profiles", "oracle"])
    options.set_defaults(contender="profiles")
    arguments = options.parse_args()
    usual = Variant(arguments.contender)
    variants = {name: Variant(arguments.contender, changed) for name, changed in CHANGES.items()}
    return print_changes(arguments.state, arguments.seeds, usual, variants, corner="")


if __name__ == "__main__":
    sys.exit(main())
