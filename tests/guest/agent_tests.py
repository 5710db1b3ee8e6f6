"""The agent's tests on real groups, as one command for the guest."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import Checkout
from guest.systemd import DELEGATED
from guest.work import SCRATCH, Work

# Tests of JVMs do not depend on the version of cgroups, and take minutes on emulated processors.
# There are no tests with YARN for the same reason: a ResourceManager takes two minutes to start.
ELSEWHERE = {"jvm", "hanging_jobs", "heaps", "shortage"}
# Emulated processors need longer time-outs; version 1 tests the bounds themselves.
TIMES_SLOWER = "4"
JOBS = os.environ.get("JOBS", "2")
# What the sandbox of a unit could prevent. Not the tests of devices, which start the agent in a
# network namespace of their own.
AS_UNITS = {
    "disk_limits",
    "installed",
    "limits",
    "memory_limits",
    "memory_watch",
    "moves",
    "peers",
    "restart",
    "sensors",
    "watchdog",
}
# Not in /tmp or /var/tmp, of which a unit has its own.
UNITS_FOLDER = "/var/lib/elastane-test"
_AS_UNITS_ENVIRONMENT = {
    "ELASTANE_TEST_UNITS": "1",
    "ELASTANE_TEST_GROUP": DELEGATED,
    "TMPDIR": UNITS_FOLDER,
}

# A failed program does not stop the others, so that one run names all failures. What they say is
# repeated at the end, where it is found. Not by a pipe, which a process that a failed test left
# behind would hold open.
_RUN = """failed=; outputs=$(mktemp -d)
run() {
  echo "== $1"
  : >"$outputs/said"
  sleep infinity & running=$!
  tail -n +1 -f -s 0.2 --pid=$running "$outputs/said" & follower=$!
  "$2" --test-threads=1 >>"$outputs/said" 2>&1
  code=$?
  kill $running
  wait $follower
  [ $code = 0 ] && return
  failed="$failed $1"
  sed -n '/^failures:$/,$p' "$outputs/said" >>"$outputs/failures"
}"""
_VERDICT = """if [ -n "$failed" ]; then
  cat "$outputs/failures"
  echo "failed in the guest:$failed"
  exit 1
fi"""


@dataclass(frozen=True)
class Choice:
    """Of the test programs. None in `only`: all of them."""

    only: list[str]
    without: list[str]

    def has(self, name: str) -> bool:
        return name not in self.without and (not self.only or name in self.only)


def agent_tests(checkout: Checkout, choice: Choice, seconds: int, as_units: bool) -> Work:
    """Builds the agent's test programs on the host, to run one after another in the guest."""
    built = _build(checkout)
    can_run = AS_UNITS if as_units else {name for name, _ in built}
    unknown = (can_run | {*choice.only, *choice.without}) - {name for name, _ in built}
    if unknown:
        raise RuntimeError(f"no test programs: {', '.join(sorted(unknown))}")
    programs = [(name, program) for name, program in built if name in can_run and choice.has(name)]
    return Work(
        command=["/bin/sh", "-c", f"mkdir -p {UNITS_FOLDER}\n{script_of(programs)}"],
        folder=checkout.root / "nodemanager-hook",
        environment={
            "PATH": os.environ.get("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"),
            "HOME": "/tmp",
            "ELASTANE_TEST_DISK": SCRATCH,
            "ELASTANE_TEST_TIMES_SLOWER": TIMES_SLOWER,
            **(_AS_UNITS_ENVIRONMENT if as_units else {}),
        },
        seconds=seconds,
    )


def script_of(programs: list[tuple[str, Path]]) -> str:
    """Runs programs of tests, one after another."""
    runs = [f"run {name} {shlex.quote(str(program))}" for name, program in programs]
    return "\n".join([_RUN, *runs, _VERDICT])


def _build(checkout: Checkout) -> list[tuple[str, Path]]:
    # With the features that `make test-rust` built with: for the agent alone, all is built again.
    command = ["cargo", "test", "--locked", "--jobs", JOBS, "--workspace", "--no-run"]
    built = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        check=True,
        cwd=checkout.root,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    messages = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return [
        (message["target"]["name"], Path(message["executable"]))
        for message in messages
        if message.get("reason") == "compiler-artifact"
        and message.get("executable")
        and Path(message["manifest_path"]).parent == checkout.root / "nodemanager-hook"
        and message["target"]["kind"] == ["test"]
        and message["target"]["name"] not in ELSEWHERE
    ]
