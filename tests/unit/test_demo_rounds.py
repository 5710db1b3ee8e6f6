"""The rounds of the demo."""

from __future__ import annotations

from demo.rounds import COLUMNS, ROUNDS


def test_a_depository_is_begun_by_its_first_round_whichever_rounds_are_chosen() -> None:
    assert [one.name for one in ROUNDS if one.begins_depository()] == ["oversubscribed", "learning"]


def test_the_report_has_each_round_once() -> None:
    assert sorted(COLUMNS) == sorted(one.name for one in ROUNDS)
