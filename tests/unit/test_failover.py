"""What the failover suite is built of: a link, the comparison of views, the summary."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cluster.link import Link
from cluster.ports import LOOPBACK, free_ports
from failover import __main__ as program
from failover.folder import MARK, refuse_foreign, renew
from failover.record import Switch, report, summary, text
from failover.standby import allowed_hangs, deadlocked_threads
from failover.views import Lost, application_of

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


def test_only_an_empty_folder_or_one_of_an_earlier_run_is_renewed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    refuse_foreign(folder)
    renew(folder)
    (folder / "cluster").mkdir()
    (folder / "report.json").write_text("{}")
    refuse_foreign(folder)
    renew(folder)
    assert [one.name for one in folder.iterdir()] == [MARK]

    foreign = tmp_path / "foreign"
    foreign.mkdir()
    refuse_foreign(foreign)
    (foreign / "letter").touch()
    with pytest.raises(Lost, match="is not empty"):
        refuse_foreign(foreign)
    with pytest.raises(Lost, match="is not a folder"):
        refuse_foreign(foreign / "letter")


@pytest.mark.parametrize("switches", ["0", "-1", "many"])
def test_a_number_of_switches_that_is_none_is_refused(
    switches: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["failover", f"--switches={switches}", "--output", "x"])
    with pytest.raises(SystemExit):
        program.main()
    assert "a whole number of at least 1" in capsys.readouterr().err


HADOOP = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
LOCKED = f"\tat {HADOOP}.handleTransitionToStandByInNewThread(ResourceManager.java:1)"
ENDING = f"\tat {HADOOP}.resetRMContext(ResourceManager.java:2)"
ELASTANE = "\tat org.elastane.scheduler.Core.close(Core.java:3)"


def dump(*threads: tuple[str, str, str]) -> str:
    return "Full thread dump\n\n" + "\n\n".join(
        f'"{name}" #7 daemon prio=5\n   java.lang.Thread.State: {state}\n{frames}'
        for name, state, frames in threads
    )


def test_hadoops_deadlock_is_of_two_threads_without_elastane() -> None:
    blocked = ("dispatcher", "BLOCKED (on object monitor)", LOCKED)
    waiting = ("stopper", "TIMED_WAITING (on object monitor)", ENDING)
    assert deadlocked_threads(dump(blocked, waiting)) == ("dispatcher", "stopper")
    for others in (
        [blocked],
        [("one", blocked[1], f"{LOCKED}\n{ENDING}")],
        [("dispatcher", "RUNNABLE", LOCKED), waiting],
        [blocked, ("stopper", waiting[1], f"{ELASTANE}\n{ENDING}")],
        [("dispatcher", blocked[1], f"{ELASTANE}\n{LOCKED}"), waiting],
    ):
        assert deadlocked_threads(dump(*others)) is None
    assert deadlocked_threads("") is None


def test_not_every_lost_session_may_end_with_a_hang() -> None:
    assert [allowed_hangs(lost_sessions) for lost_sessions in (2, 4, 25)] == [2, 3, 18]
