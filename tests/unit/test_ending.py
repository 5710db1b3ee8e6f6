"""How programs that run a cluster end."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cluster.processes import ProcessEnded
from cluster.signals import ENDING
from demo.ending import Ending
from demo.progress import ProgressLine


class Other(Exception):
    pass


@pytest.fixture(autouse=True)
def _handlers_stay() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_work_that_is_done_ends_with_0() -> None:
    with Ending("the work", ProgressLine()) as ending:
        pass
    assert ending.exit_code == 0


@pytest.mark.parametrize("problem", [ProcessEnded, Other])
def test_an_expected_problem_is_one_line_and_ends_with_1(
    problem: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    with Ending("the work", ProgressLine(), Other) as ending:
        raise problem("node-1 ended")
    assert ending.exit_code == 1
    assert capsys.readouterr().err == "the work could not be finished: node-1 ended\n"


@pytest.mark.parametrize("number", ENDING)
def test_every_ending_signal_is_an_interruption(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ending("the work", ProgressLine(), interrupted="half is kept") as ending:
        signal.raise_signal(number)
    assert ending.exit_code == 130
    assert capsys.readouterr().err == "interrupted; half is kept\n"


def test_what_is_not_expected_is_raised() -> None:
    with pytest.raises(Other), Ending("the work", ProgressLine()):
        raise Other
