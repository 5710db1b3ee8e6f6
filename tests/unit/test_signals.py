"""A signal during the clean-up is deferred and not lost."""

from __future__ import annotations

import os
import signal

import pytest

from cluster.signals import undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_block_is_finished_and_then_the_signal_counts(number: signal.Signals) -> None:
    finished = False
    with pytest.raises(KeyboardInterrupt), undisturbed():
        os.kill(os.getpid(), number)
        finished = True
    assert finished


def test_handlers_are_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with undisturbed():
        pass
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_error_of_the_block_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="boom"), undisturbed():
        raise ValueError("boom")
