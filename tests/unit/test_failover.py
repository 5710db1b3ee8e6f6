"""What the failover suite is built of: a link, the comparison of views, the summary."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from cluster.link import Link
from cluster.ports import LOOPBACK, free_ports
from failover.record import Switch, report, summary, text
from failover.views import application_of

ANSWER_SECONDS = 5.0


@pytest.fixture
def server() -> Iterator[socket.socket]:
    (port,) = free_ports(1)
    with socket.create_server((LOOPBACK, port)) as one:
        one.settimeout(ANSWER_SECONDS)
        yield one


def test_a_link_carries_both_directions_until_it_is_cut(server: socket.socket) -> None:
    with Link(server.getsockname()[1]) as link:
        near = socket.create_connection((LOOPBACK, link.port), ANSWER_SECONDS)
        far, _ = server.accept()
        far.settimeout(ANSWER_SECONDS)
        near.sendall(b"question")
        assert far.recv(64) == b"question"
        far.sendall(b"answer")
        assert near.recv(64) == b"answer"

        link.cut()
        for end in (near, far):
            with suppress(ConnectionResetError):
                assert end.recv(64) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, link.port), ANSWER_SECONDS)

        link.mend()
        near = socket.create_connection((LOOPBACK, link.port), ANSWER_SECONDS)
        far, _ = server.accept()
        near.sendall(b"again")
        assert far.recv(64) == b"again"


def test_a_container_names_its_application_before_and_after_a_failover() -> None:
    expected = "application_1410901177871_0001"
    assert application_of("container_1410901177871_0001_01_000005") == expected
    assert application_of("container_e17_1410901177871_0001_01_000005") == expected


def switch(number: int, way: str, active_s: float) -> Switch:
    return Switch(
        number=number,
        way=way,
        former="rm1",
        active="rm2",
        active_s=active_s,
        in_service_s=active_s + 1.0,
        same_view_s=active_s + 1.5,
        raised_s=active_s + 2.0,
        standby_s=active_s + 9.0,
        has_hung=number == 2,
        containers_before=8,
        containers_after=8,
        visitors=number,
    )


def test_the_summary_has_median_and_worst_by_way_and_of_all() -> None:
    switches = [switch(1, "kill -9", 6.0), switch(2, "kill -TERM", 1.0), switch(3, "kill -9", 8.0)]
    found = summary(switches)
    assert list(found) == ["kill -9", "kill -TERM", "all"]
    assert (found["kill -9"]["active_s"].median_s, found["kill -9"]["active_s"].worst_s) == (7, 8)
    assert found["all"]["raised_s"].median_s == 8.0
    assert "6.0 … 8.0" in text(switches).splitlines()[-1]
    written = report(switches, 4, "switch 4: lost", {"BookingsMended": 0})
    assert (written["done"], written["wanted"], written["problem"]) == (3, 4, "switch 4: lost")
    assert written["hung"] == 1


def test_a_switch_is_one_line() -> None:
    assert switch(17, "kill -9", 6.2).line(50) == (
        "switch 17/50 kill -9 rm1 → rm2 active after 6.2 s, in service after 7.2 s,"
        " same view after 7.7 s, raised after 8.2 s, containers 8 = 8, short applications 17"
    )
