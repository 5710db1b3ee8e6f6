"""A missing tool is named with its package; the guest's first script runs the command."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster import prerequisites
from cluster.paths import Checkout
from cluster.processes import kill_all
from guest import bare, systemd, tools
from guest.agent_tests import script_of
from guest.machine import Bound
from guest.work import EXIT_LINE, Work


def test_a_missing_tool_gets_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(prerequisites, "VIRTIOFSD_PLACES", (tmp_path / "virtiofsd",))
    with pytest.raises(tools.MissingTool) as missing:
        tools.Tools.find()
    message = str(missing.value)
    assert str(tmp_path / "virtiofsd") in message
    assert "apt-get install" in message
    assert len(message.splitlines()) == 1


def test_either_a_command_or_the_tests() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guest"],
        cwd=Checkout().tests,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "give either --agent-tests or a command" in done.stderr


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    """Only the command's lines are run, on the host."""
    work = Work(["sh", "-c", "exit 7"], tmp_path, {"KEY": "a 'quoted' value"}, seconds=60)
    lines = bare.start(work).splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith("chroot"))
    inside = lines[begin].replace("chroot /root", "", 1)
    script = "\n".join([inside, *lines[begin + 1 : begin + 3]])
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == f"\n{EXIT_LINE}7\n"


@pytest.mark.parametrize(
    ("result", "code", "status", "told"),
    [
        ("success", "exited", "0", "0"),
        ("exit-code", "exited", "7", "7"),
        ("signal", "killed", "KILL", "128"),
    ],
)
def test_a_unit_tells_how_its_command_ended(result: str, code: str, status: str, told: str) -> None:
    """With systemd's variables as it sets them."""
    done = subprocess.run(
        ["sh", "-c", systemd.TELL_THE_END],
        capture_output=True,
        text=True,
        check=False,
        env={"SERVICE_RESULT": result, "EXIT_CODE": code, "EXIT_STATUS": status},
    )
    assert done.stdout == f"\n{EXIT_LINE}{told}\n"


def test_what_a_failed_program_of_tests_says_is_repeated_at_the_end(tmp_path: Path) -> None:
    programs = []
    left_behind = tmp_path / "left-behind"
    left_behind.touch()
    for name, says, code in (
        ("first", "failures:\nthe reason of the first", 101),
        ("second", "test result: ok", 0),
        ("third", "failures:\nthe reason of the third", 101),
    ):
        program = tmp_path / f"program of {name}"
        lines = [
            "#!/bin/sh",
            "sleep 60 &",
            f"echo $! >>'{left_behind}'",
            f"echo 'running {name}\n{says}'",
            f"exit {code}",
        ]
        program.write_text("\n".join([*lines, ""]))
        program.chmod(0o755)
        programs.append((name, program))

    def run(some: list[tuple[str, Path]]) -> tuple[int, str]:
        command = ["sh", "-c", script_of(some)]
        said = tmp_path / "said"
        with said.open("w") as file:
            try:
                ended = subprocess.run(command, stdout=file, timeout=30, check=False)
            finally:
                kill_all(map(int, left_behind.read_text().split()))
                left_behind.write_text("")
        return ended.returncode, said.read_text()

    code, said = run(programs)
    assert code == 1
    assert said.splitlines()[-5:] == [
        "failures:",
        "the reason of the first",
        "failures:",
        "the reason of the third",
        "failed in the guest: first third",
    ]
    assert [line for line in said.splitlines() if line.startswith("running")] == [
        "running first",
        "running second",
        "running third",
    ]
    assert run(programs[1:2]) == (0, "== second\nrunning second\ntest result: ok\n")


def test_a_silent_guest_is_killed_and_a_speaking_one_is_not() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as files:
        speaking, silent = (subprocess.Popen(["sleep", "60"]) for _ in range(2))
        bounds = [Bound(one, files, 60, silent_seconds=5) for one in (speaking, silent)]
        while silent.poll() is None:
            bounds[0].has_spoken()
            time.sleep(0.02)
        assert speaking.poll() is None
        assert bounds[1].ended == "stands still, this machine's files are still served"
        for bound in bounds:
            bound.end()
        speaking.kill()
        speaking.wait()
