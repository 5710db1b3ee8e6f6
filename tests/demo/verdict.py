"""States the result of the rounds, and where Elastane was not better."""

from __future__ import annotations

from demo.result import RoundFigures

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
    failures = ", ".join(f"{one.name} {one.failures}" for one in rounds)
    sentences.append(f"Failed applications: {failures}.")
    if profiles.placed_by_core == 0:
        sentences.append("Elastane's core placed no container in the round `profiles`.")
    return " ".join(sentences)


def _lead(profiles: RoundFigures, capacity: RoundFigures) -> str:
    """Throughput and completion, whatever their sign."""
    if profiles.failures or capacity.failures:
        return "Applications failed, so the rounds did not do the same work: times compare badly."
    work = capacity.makespan_s / profiles.makespan_s - 1
    sooner = 1 - profiles.mean_completion_s / capacity.mean_completion_s
    return (
        f"Elastane with profiles did in {profiles.makespan_s:.0f} s what CapacityScheduler did in "
        f"{capacity.makespan_s:.0f} s: {_percent(work, 'makespan_s', 'more', 'less')} work in the "
        f"same time. An application was done after {profiles.mean_completion_s:.0f} s on average "
        f"instead of {capacity.mean_completion_s:.0f} s: "
        f"{_percent(sooner, 'mean_completion_s', 'sooner', 'later')}."
    )


def _percent(gain: float, key: str, better: str, worse: str) -> str:
    if abs(gain) <= SPREAD[key]:
        return f"no {better}"
    return f"{100 * abs(gain):.0f} % {better if gain > 0 else worse}"


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
        ours, theirs = getattr(profiles, key), getattr(baseline, key)
        if ours is None or not theirs:
            continue
        change = ours / theirs - 1
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
