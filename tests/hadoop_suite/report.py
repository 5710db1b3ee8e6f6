"""The table and the lists at the end."""

from __future__ import annotations

from hadoop_suite.classes import short
from hadoop_suite.comparison import MODES, ClassRun, Verdict
from hadoop_suite.outcomes import name_of

NAMES_IN_PROGRESS = 4


def table(runs: list[ClassRun]) -> list[str]:
    """For each class, the tests that passed of all, in each mode."""
    modes = [mode for mode in MODES if any(run.mode == mode for run in runs)]
    cells = {(run.class_name, run.mode): cell(run) for run in runs}
    names = list(dict.fromkeys(run.class_name for run in runs))
    width = max([len(short(name)) for name in names], default=0)
    lines = [f"{'class':<{width}}" + "".join(f"  {mode:>9}" for mode in modes)]
    for name in names:
        row = "".join(f"  {cells.get((name, mode), '-'):>9}" for mode in modes)
        lines.append(f"{short(name):<{width}}{row}")
    totals = []
    for mode in modes:
        of_mode = [run for run in runs if run.mode == mode]
        passed = sum(run.passed for run in of_mode)
        totals.append(f"{passed}/{sum(run.ran for run in of_mode)}")
    return [*lines, f"{'total':<{width}}" + "".join(f"  {total:>9}" for total in totals)]


def cell(run: ClassRun) -> str:
    return f"{run.passed}/{run.ran}"


def lists(runs: list[ClassRun], verdict: Verdict) -> list[str]:
    """What is to be looked at, a paragraph for each kind."""
    lines: list[str] = []
    stock = {run.class_name: run for run in runs if run.mode == MODES[0]}

    def paragraph(title: str, entries: list[str]) -> None:
        if entries:
            lines.extend(["", f"{title} ({len(entries)}):", *(f"  {entry}" for entry in entries)])

    paragraph(
        "fails with Elastane and passes on stock",
        [
            f"{described(run, test)}; stock: {attempts(stock[run.class_name], test)}"
            for run, test in verdict.regressions
        ],
    )
    paragraph(
        "fails on stock",
        [described(run, test) for run in stock.values() for test in run.failed],
    )
    paragraph(
        "fails, and stock was not run",
        [described(run, test) for run in verdict.without_stock for test in run.failed],
    )
    paragraph(
        "failed once and passed when run again",
        [described(run, test) for run in runs for test in run.unsteady],
    )
    paragraph(
        "not substituted",
        [
            f"{run.mode} {short(run.class_name)}: {run.count('substituted_schedulers')} schedulers"
            f" of ours, {run.count('stock_schedulers')} of Hadoop's"
            for run in verdict.not_substituted
        ],
    )
    paragraph(
        "Elastane's core failed: see 'out of service' in the class's log",
        [f"{run.mode} {short(run.class_name)}" for run in verdict.out_of_service],
    )
    paragraph(
        "no test ran, or none passed on stock",
        [f"{run.mode} {short(run.class_name)}" for run in verdict.not_completed],
    )
    return lines


def described(run: ClassRun, test: str) -> str:
    return f"{run.mode} {short(run.class_name)}.{name_of(test)}: {attempts(run, test)}"


def attempts(run: ClassRun, test: str) -> str:
    """As `failed, then passed`, with the last error's first line."""
    outcomes = run.attempts(test)
    if not outcomes:
        return "not run"
    text = ", then ".join(outcome.status.value for outcome in outcomes)
    errors = [outcome.error for outcome in outcomes if outcome.error]
    return f"{text} ({errors[-1].splitlines()[0][:160]})" if errors else text


def progress(run: ClassRun) -> str:
    """One line for a class that has run."""
    line = f"{run.mode} {short(run.class_name)}: {cell(run)} passed in {run.seconds:.0f} s"
    if run.failed:
        line += f"; failed: {first_names(run.failed)}"
    if run.unsteady:
        line += f"; failed once: {first_names(run.unsteady)}"
    if run.core_failed:
        line += "; the core failed"
    if not run.first.ended:
        line += "; the JVM did not end by itself"
    return line


def first_names(tests: list[str]) -> str:
    """The names of a few tests, and how many more there are."""
    names = ", ".join(name_of(test) for test in tests[:NAMES_IN_PROGRESS])
    more = len(tests) - NAMES_IN_PROGRESS
    return f"{names} and {more} more" if more > 0 else names
