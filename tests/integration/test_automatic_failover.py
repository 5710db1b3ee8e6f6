"""Two automatic failovers by ZooKeeper while applications run. `make test-failover` makes 50."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.paths import Checkout
from failover.bench import Bench
from failover.record import Switch
from failover.ways import CutOff, Suspended, Way


@pytest.fixture(scope="module")
def bench(work: Path, checkout: Checkout) -> Iterator[Bench]:
    with Bench(work, checkout) as one:
        yield one


def test_nothing_is_lost_when_the_active_one_hangs_or_is_cut_off(bench: Bench) -> None:
    ways: list[Way] = [Suspended(), CutOff(bench.links)]
    switches: list[Switch] = []
    for way in ways:
        switches.append(bench.switch(way))
        print(switches[-1].line(len(ways)))
    assert [one.former for one in switches[1:]] == [one.active for one in switches[:-1]]
    assert bench.finish() >= len(ways)
