"""Holds what mode advise said in the round `capacity` against the round `profiles`, in which
enforce ran the same applications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from demo.advised import Advised
from demo.result import RoundFigures

# An executor that starts earlier by less started as before, as in the advice.
EARLIER_BY_S = 1.0


@dataclass(frozen=True)
class Claim:
    """One figure of the advice, and what came."""

    figure: str
    advised: float
    measured: float
    unit: str = ""

    @property
    def error(self) -> float:
        return self.advised - self.measured

    def cells(self) -> list[str]:
        """What was said, what came, and the error."""
        match self.unit:
            case "%":
                advised, measured = f"{self.advised:+.0f} %", f"{self.measured:+.0f} %"
                return [advised, measured, f"{self.error:+.0f} points"]
            case "h":
                return [f"{self.advised:.3f}", f"{self.measured:.3f}", f"{self.error:+.3f}"]
            case _:
                return [f"{self.advised:.0f}", f"{self.measured:.0f}", f"{self.error:+.0f}"]


def claims(rounds: list[RoundFigures]) -> list[Claim]:
    """None where one of the two rounds, or the advice, is missing."""
    by_name = {one.name: one for one in rounds}
    capacity, profiles = by_name.get("capacity"), by_name.get("profiles")
    if capacity is None or profiles is None or capacity.advised is None:
        return []
    advised = capacity.advised
    return [
        _change("makespan", "makespan_s", profiles, capacity, advised),
        _change("mean completion time", "mean_completion_s", profiles, capacity, advised),
        *_earlier(profiles, capacity, advised),
        Claim(
            "node-hours saved",
            advised.node_hours_as_capacity - advised.node_hours_as_enforce,
            capacity.node_hours - profiles.node_hours,
            "h",
        ),
    ]


def as_rows(all_claims: list[Claim]) -> list[list[str]]:
    """A head line, then one line for each figure."""
    head = ["mode advise in `capacity`", "advised", "came", "error"]
    return [head, *([one.figure, *one.cells()] for one in all_claims)]


def as_json(all_claims: list[Claim]) -> list[dict[str, Any]]:
    return [{**asdict(one), "error": one.error} for one in all_claims]


def _change(
    figure: str, key: str, profiles: RoundFigures, capacity: RoundFigures, advised: Advised
) -> Claim:
    said = getattr(advised.as_enforce, key) / getattr(advised.as_capacity, key) - 1
    came = getattr(profiles, key) / getattr(capacity, key) - 1
    return Claim(figure, 100 * said, 100 * came, "%")


def _earlier(profiles: RoundFigures, capacity: RoundFigures, advised: Advised) -> Iterator[Claim]:
    earlier_s = started_earlier_s(capacity.executor_starts_s, profiles.executor_starts_s)
    yield Claim("executors that start earlier", advised.containers_earlier, len(earlier_s))
    mean_s = sum(earlier_s) / len(earlier_s) if earlier_s else 0.0
    yield Claim("by how much on average, s", advised.mean_earlier_s, mean_s)


def started_earlier_s(before: list[list[float]], after: list[list[float]]) -> list[float]:
    """By how much executors started earlier. Those of the same application and the same place in
    the order of its starts are compared; one that only one of the rounds has is not."""
    return [
        was_s - is_s
        for of_one_before, of_one_after in zip(before, after, strict=True)
        for was_s, is_s in zip(of_one_before, of_one_after, strict=False)
        if was_s - is_s >= EARLIER_BY_S
    ]
