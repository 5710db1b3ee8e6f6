"""The combinations that `make test-matrix` is told."""

from __future__ import annotations

import pytest

from matrix.__main__ import summary
from matrix.cells import CELLS, Cell, UnknownCell


def test_the_combinations_are_known_and_distinct() -> None:
    cells = [Cell.of(text) for text in CELLS]
    assert len(set(cells)) == len(cells)
    assert {"3.3.6", "3.4.1", "3.4.2", "3.4.3", "3.5.0"} == {cell.hadoop for cell in cells}
    assert str(cells[0]) == "Hadoop 3.3.6, Java 11, Spark 3.5.5"


def test_what_a_runtime_cannot_run_is_left_out() -> None:
    names = ["versions", "rest", "metrics"]
    assert Cell.of("3.4.3:11:3.5.5").tests(names) == ["versions", "rest"]
    assert Cell.of("3.4.3:17:3.5.5").tests(names) == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3.4.3:17", "HADOOP:JAVA:SPARK is allowed"),
        ("3.4.3::4.1.1", "HADOOP:JAVA:SPARK is allowed"),
        ("3.4.3:8:3.5.5", "Java 8: 11, 17, 21 are allowed"),
    ],
)
def test_a_combination_that_is_none_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnknownCell, match=f"^{text}: {said}"):
        Cell.of(text)


@pytest.mark.parametrize(
    "line",
    [
        "3 failed, 20 passed in 61.08s (0:01:01)",
        "20 passed, 2 skipped in 61.08s (0:01:01)",
        "1 skipped in 0.05s",
        "1 error in 0.05s",
    ],
)
def test_a_combination_says_how_many_tests_failed_or_were_skipped(line: str) -> None:
    said = line.partition(" (")[0]
    assert summary(f"first\n===== {line} =====\n") == said
    assert summary(f"first\n{line}\n") == said


def test_a_log_without_tests_has_no_summary() -> None:
    assert summary("ImportError\n") is None
