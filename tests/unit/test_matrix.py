"""The combinations that `make test-matrix` is told."""

from __future__ import annotations

import pytest

from matrix.cells import CELLS, Cell, UnknownCell


def test_the_combinations_are_known_and_distinct() -> None:
    cells = [Cell.of(text) for text in CELLS]
    assert len(set(cells)) == len(cells)
    assert {"3.3.6", "3.4.1", "3.4.2", "3.4.3", "3.5.0"} == {cell.hadoop for cell in cells}
    assert str(cells[0]) == "Hadoop 3.3.6, Java 11, Spark 3.5.5"


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
