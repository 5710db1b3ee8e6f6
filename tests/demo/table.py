"""The table at the end."""

from __future__ import annotations

from collections.abc import Callable

from demo.expected_starts import ExpectedStarts
from demo.result import RoundFigures

ROWS: tuple[tuple[str, Callable[[RoundFigures], str]], ...] = (
    ("makespan, s", lambda one: f"{one.makespan_s:.0f}"),
    ("mean completion, s", lambda one: f"{one.mean_completion_s:.0f}"),
    ("CPU, core-s", lambda one: _number(one.cpu_core_s, 0)),
    ("CPU, part of the nodes' share", lambda one: _number(one.mean_cpu_of_share, 2)),
    ("CPU of all else, cores", lambda one: _number(one.others_mean_cores, 2)),
    ("hours in which a node had a container", lambda one: _number(one.node_hours, 3)),
    ("containers", lambda one: str(one.containers)),
    ("  placed by the core", lambda one: str(one.placed_by_core)),
    ("most containers on a node", lambda one: str(one.most_containers.containers)),
    ("  its physical size books", lambda one: str(one.most_containers.physical_size_books)),
    ("most memory booked / physical", lambda one: _number(one.max_booked_over_physical.memory, 2)),
    ("most CPU booked / physical", lambda one: _number(one.max_booked_over_physical.cpu, 2)),
    ("mean memory booked / physical", lambda one: _number(one.mean_booked_over_physical.memory, 2)),
    ("memory used / booked", lambda one: _number(one.used_over_booked.memory, 2)),
    ("CPU used / booked", lambda one: _number(one.used_over_booked.cpu, 2)),
    ("expected starts, answers", lambda one: _of_starts(one, lambda it: it.asked, 0)),
    ("  of so many applications", lambda one: _of_starts(one, lambda it: it.applications, 0)),
    ("  rough, part", lambda one: _of_starts(one, lambda it: it.rough, 2)),
    ("  wait left, median, s", lambda one: _of_starts(one, lambda it: it.median_wait_s, 0)),
    ("  error, median, s", lambda one: _of_starts(one, lambda it: it.median_error_s, 0)),
    ("  sum of errors over waits", lambda one: _of_starts(one, lambda it: it.error_over_wait, 2)),
    ("applications", lambda one: str(one.applications)),
    ("failures", lambda one: str(one.failures)),
)


def rows(rounds: list[RoundFigures]) -> list[list[str]]:
    """A head line, then one line for each figure."""
    head = ["", *(one.name for one in rounds)]
    return [head, *([label, *(show(one) for one in rounds)] for label, show in ROWS)]


def as_text(rounds: list[RoundFigures]) -> str:
    return aligned(rows(rounds))


def aligned(lines: list[list[str]]) -> str:
    """Columns as wide as their widest cell; the first one to the left, the others to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _of_starts(one: RoundFigures, value: Callable[[ExpectedStarts], float], digits: int) -> str:
    starts = one.expected_starts
    return _number(None if starts is None else value(starts), digits)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
