"""Runs a command, or the agent's tests, in a virtual machine, with or without systemd.

The guest sees this machine's files and keeps what it writes to itself.

Examples:
  python -m guest --agent-tests
  python -m guest --agent-tests --without network
  python -m guest -- cat /sys/fs/cgroup/cgroup.controllers
  python -m guest --boot systemd --agent-tests --only moves,watchdog
  python -m guest --boot systemd -- systemd-cgls

The exit code is the command's; 124 if the command takes too long, 2 if the guest cannot be made, 3
if two guests gave no result.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from cluster.paths import Checkout
from guest import initramfs, kernel
from guest.agent_tests import Choice, agent_tests
from guest.bare import BARE
from guest.machine import GuestFailed, Size, run
from guest.systemd import HYBRID, UNIFIED
from guest.tools import MissingTool, Tools
from guest.work import Work

BOOTS = {"bare": BARE, "systemd": UNIFIED, "systemd-hybrid": HYBRID}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="guest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory-mb", type=int, default=2048, help="default: %(default)s")
    parser.add_argument("--processors", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--seconds", type=int, default=1200, help="bound; default: %(default)s")
    parser.add_argument(
        "--boot",
        choices=list(BOOTS),
        default="bare",
        help="the first process; default: %(default)s",
    )
    parser.add_argument(
        "--agent-tests",
        action="store_true",
        help="the agent's tests on real groups; where systemd runs, with the agent as a unit",
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="a test program to leave out"
    )
    parser.add_argument(
        "--only",
        type=lambda names: names.split(","),
        default=[],
        metavar="NAMES",
        help="these test programs, separated by commas",
    )
    parser.add_argument("command", nargs="*", help="what to run in this folder instead")
    arguments = parser.parse_args()
    if arguments.agent_tests == bool(arguments.command):
        parser.error("give either --agent-tests or a command")
    boot = BOOTS[arguments.boot]
    try:
        tools = Tools.find()
        checkout = Checkout()
        folder = checkout.target / "guest"
        folder.mkdir(parents=True, exist_ok=True)
        work = (
            agent_tests(
                checkout,
                Choice(arguments.only, arguments.without),
                arguments.seconds,
                boot.runs_units,
            )
            if arguments.agent_tests
            else Work(
                arguments.command,
                Path.cwd(),
                {"PATH": "/usr/bin:/bin:/sbin"},
                arguments.seconds,
            )
        )
        its_kernel = kernel.fetch(folder, tools)
        archive = folder / "initramfs.cpio"
        initramfs.pack(archive, its_kernel, boot.start(work), tools)
        size = Size(arguments.memory_mb, arguments.processors)

        def run_once() -> int:
            seconds = arguments.seconds
            return run(folder, its_kernel, boot, archive, size, seconds, tools)

        try:
            return run_once()
        except GuestFailed as failure:
            # A hanging emulator or file server is no failure of the command. Seen once in
            # hundreds of runs, without a message of the guest's kernel.
            print(f"{failure}; starting the guest again", file=sys.stderr)
        return run_once()
    except MissingTool as missing:
        print(missing, file=sys.stderr)
        return 2
    except (subprocess.CalledProcessError, GuestFailed, RuntimeError) as failure:
        print(failure, file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
