"""States the result of the rounds, and where Elastane was not better."""

from __future__ import annotations

from demo.advised import Advised
from demo.result import RoundFigures
from demo.truth import claims

# The spread between two runs of the same round; a smaller difference does not count.
SPREAD = {"makespan_s": 0.06, "mean_completion_s": 0.05, "cpu_core_s": 0.10}
WORDS = {
    "makespan_s": "makespan",
    "mean_completion_s": "mean completion time",
    "cpu_core_s": "CPU time",
}

# ResourceManager, agents and the submitting JVM together use less than this.
QUIET_CORES = 0.5

TOO_SHORT = "This was the small demo: its applications are too few and too short to compare rounds."


def verdict(rounds: list[RoundFigures], quick: bool) -> str:
    """Compares the last round with each baseline, unless they are small; lower is better
    everywhere."""
    by_name = {one.name: one for one in rounds}
    profiles = by_name.get("profiles")
    sentences = [TOO_SHORT] if quick else _disturbed(rounds)
    if profiles is None:
        return " ".join([*sentences, "The round `profiles` was not run: nothing to compare."])
    if not quick:
        if (capacity := by_name.get("capacity")) is not None:
            sentences.append(_lead(profiles, capacity))
        for baseline in (by_name.get(name) for name in ("capacity", "oversubscribed", "learning")):
            if baseline is not None:
                sentences.extend(_against(profiles, baseline))
        if capacity is not None and capacity.advised is not None:
            sentences.append(_forecast(rounds, capacity, capacity.advised))
    failures = ", ".join(f"{one.name} {one.failures}" for one in rounds)
    sentences.append(f"Failed applications: {failures}.")
    if profiles.placed_by_core == 0:
        sentences.append("Elastane's core placed no container in the round `profiles`.")
    return " ".join(sentences)


def _lead(profiles: RoundFigures, capacity: RoundFigures) -> str:
    """Throughput and completion, whatever their sign."""
    if profiles.failures or capacity.failures:
        return "Applications failed, so the rounds did not do the same work: times compare badly."
    longer = _change("makespan_s", profiles, capacity) or 0.0
    later = _change("mean_completion_s", profiles, capacity) or 0.0
    work = _gain("makespan_s", longer, 1 / (1 + longer) - 1, "more", "less")
    sooner = _gain("mean_completion_s", later, -later, "sooner", "later")
    return (
        f"Elastane with profiles did in {profiles.makespan_s:.0f} s what CapacityScheduler did in "
        f"{capacity.makespan_s:.0f} s: {work} work in the same time. An application was done "
        f"after {profiles.mean_completion_s:.0f} s on average instead of "
        f"{capacity.mean_completion_s:.0f} s: {sooner}."
    )


def _gain(key: str, change: float, gain: float, better: str, worse: str) -> str:
    """The gain in words, unless the change that it follows from is within the spread."""
    if abs(change) <= SPREAD[key]:
        return f"no {better}"
    return f"{100 * abs(gain):.0f} % {better if gain > 0 else worse}"


def _change(key: str, ours: RoundFigures, theirs: RoundFigures) -> float | None:
    """As a fraction of theirs; none where it was not measured."""
    one, other = getattr(ours, key), getattr(theirs, key)
    return None if one is None or not other else one / other - 1


def _forecast(rounds: list[RoundFigures], capacity: RoundFigures, advised: Advised) -> str:
    """What mode advise said in the round `capacity`, held against what came."""
    said = []
    for one in claims(rounds):
        before, after, error = one.cells()
        said.append(f"{one.figure} {before} (came: {after}; error {error})")

    def off(key: str) -> str:
        replayed = getattr(advised.as_capacity, key) / getattr(capacity, key) - 1
        return f"{WORDS[key]} {100 * replayed:+.0f} %"

    return (
        f"Mode advise had said in `capacity`: {', '.join(said)}. Its replay of `capacity` itself "
        f"is off by: {off('makespan_s')}, {off('mean_completion_s')}."
    )


def _disturbed(rounds: list[RoundFigures]) -> list[str]:
    busy = [
        f"{one.others_mean_cores:.1f} cores in `{one.name}`"
        for one in rounds
        if one.others_mean_cores is not None and one.others_mean_cores > QUIET_CORES
    ]
    if not busy:
        return []
    return [f"The machine did other work meanwhile ({', '.join(busy)}): times compare badly."]


def _against(profiles: RoundFigures, baseline: RoundFigures) -> list[str]:
    better, same, worse = [], [], []
    for key, spread in SPREAD.items():
        change = _change(key, profiles, baseline)
        if change is None:
            continue
        text = f"{WORDS[key]} {100 * change:+.0f} %"
        if change < -spread:
            better.append(text)
        elif change > spread:
            worse.append(text)
        else:
            same.append(text)
    sentences = []
    if better:
        sentences.append(
            f"Elastane with profiles was better than `{baseline.name}`: {', '.join(better)}."
        )
    if same:
        sentences.append(
            f"No difference to `{baseline.name}` beyond what repeated runs differ by: "
            f"{', '.join(same)}."
        )
    if worse:
        sentences.append(
            f"Elastane with profiles was NOT better than `{baseline.name}`: {', '.join(worse)}."
        )
    return sentences
