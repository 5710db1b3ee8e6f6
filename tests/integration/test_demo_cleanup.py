"""The demo leaves nothing behind, also after Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from cluster.cgroups import groups_named
from cluster.cluster import GROUP_PREFIX
from cluster.paths import Checkout
from cluster.processes import strays
from cluster.waiting import wait_until

START_SECONDS = 240.0
STOP_SECONDS = 60.0


@pytest.mark.skipif(os.geteuid() != 0, reason="without root the demo makes no cgroups to remove")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_after_a_signal(
    checkout: Checkout, work: Path, number: signal.Signals
) -> None:
    output = work / number.name
    demo = subprocess.Popen(
        [checkout.python, "-m", "demo", "--quick", "--output", output],
        env={**os.environ, "PYTHONPATH": str(checkout.tests)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    group = f"{GROUP_PREFIX}{demo.pid}"
    try:
        # A container runs: the NodeManager, the container's shell and the shell's child.
        wait_until(
            lambda: demo.poll() is not None or _most_processes(group) > 2,
            "a container in a node's share",
            START_SECONDS,
        )
        demo.send_signal(number)
        _, problems = demo.communicate(timeout=STOP_SECONDS)
    finally:
        demo.kill()

    assert demo.returncode == 130, problems
    assert strays(str(output)) == []
    assert groups_named(group) == []
    assert list(Path(tempfile.gettempdir()).glob(f"{group}-*")) == []
    mounts = Path("/proc/self/mountinfo").read_text()
    assert str(output) not in mounts
    assert group not in mounts


def _most_processes(group: str) -> int:
    files = [file for root in groups_named(group) for file in root.rglob("cgroup.procs")]
    return max((len(file.read_text().split()) for file in files), default=0)
