#!/usr/bin/env python3
"""Checks that the released binaries run on an older glibc.

`check` reads what each binary needs and names what glibc GLIBC does not have. `run` unpacks the
archive of `make dist` in a root of Debian 11 for each architecture and uses its programs there;
where this machine has another architecture, QEMU emulates it. As root on Debian, `run` first
installs what it needs. Needs Python 3.9 and its standard library only.

Examples:
  python3 -m portable check target/dist/elastane-0.1.0 --glibc 2.28 x86_64 aarch64
  python3 -m portable run target/elastane-0.1.0.tar.gz x86_64 aarch64

The exit code is 1 if something fails or is missing, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster import prerequisites
from cluster.paths import Checkout
from cluster.prerequisites import Missing, Program
from portable import binaries
from portable.roots import ARCHIVE, DEBIAN_NAMES, Root
from portable.steps import CLASSES, LOGS, failure, steps

READELF = Program("readelf", "readelf", ("binutils",))
FOR_ROOTS = (
    READELF,
    Program("mmdebstrap", "mmdebstrap", ("mmdebstrap",)),
    Program("unshare", "unshare", ("util-linux",)),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="portable", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="read what the binaries of a folder need")
    check.add_argument("folder", type=Path, help="the unpacked archive")
    check.add_argument("--glibc", required=True, metavar="GLIBC", help="the oldest one, as 2.28")
    run = commands.add_parser("run", help="run an archive's programs on Debian 11")
    run.add_argument("archive", type=Path, help="made by `make dist`")
    for one in (check, run):
        one.add_argument("architectures", nargs="+", choices=list(DEBIAN_NAMES))
    arguments = parser.parse_args()
    try:
        if arguments.command == "check":
            return check_folder(arguments.folder, arguments.glibc, arguments.architectures)
        return run_archive(arguments.archive, arguments.architectures)
    except subprocess.CalledProcessError as failed:
        command = " ".join(map(str, failed.cmd))
        print(f"failed with exit code {failed.returncode}: {command}", file=sys.stderr)
        return 1


def check_folder(folder: Path, glibc: str, architectures: list[str]) -> int:
    """Prints one line for each binary, or what is wrong with it."""
    missing = READELF.missing()
    if missing:
        print(*prerequisites.describe(missing), sep="\n", file=sys.stderr)
        return 1
    (jar,) = folder.glob("lib/elastane-scheduler-*.jar")
    libraries = {name: folder / "lib" / name / "libelastane.so" for name in architectures}
    faults = binaries.faults_of_jar(jar, libraries)
    for architecture in architectures:
        for name in binaries.FILES:
            kind = "lib" if name.endswith(".so") else "bin"
            file = folder / kind / architecture / name
            of_file = binaries.complaints(file, architecture, glibc)
            faults += of_file
            if not of_file:
                newest = binaries.newest_needed(file)
                print(f"{kind}/{architecture}/{name} needs glibc {newest}, at most {glibc}")
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


def run_archive(archive: Path, architectures: list[str]) -> int:
    """Runs the steps of each architecture; all of them, even if one fails."""
    checkout = Checkout()
    folder = checkout.target / "portable"
    roots = [Root(folder / "roots" / name, name) for name in architectures]
    missing = _missing(roots)
    packages = prerequisites.packages_of(missing)
    if packages and prerequisites.can_install():
        prerequisites.install(packages)
        missing = _missing(roots)
    if missing:
        print(*prerequisites.describe(missing), sep="\n", file=sys.stderr)
        return 1
    failures = []
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        unpacked, classes = Path(scratch, "unpacked"), Path(scratch, "classes")
        unpacked.mkdir()
        subprocess.run(["tar", "-C", str(unpacked), "-xf", str(archive)], check=True)
        (release,) = unpacked.iterdir()
        version = release.name.partition("-")[2]
        jar = release / "lib" / f"elastane-scheduler-{version}.jar"
        source = checkout.tests / "portable" / "UsesLibrary.java"
        compiler = prerequisites.java_home() / "bin" / "javac"
        subprocess.run(
            [
                *(str(compiler), "--release", "8", "-Xlint:-options", "-cp", str(jar)),
                *("-d", str(classes), str(source)),
            ],
            check=True,
        )
        for root in roots:
            root.make()
            root.put(release, ARCHIVE)
            root.put(classes, CLASSES)
            root.put(checkout.root / "rust/eventlog/tests/data", LOGS)
            shutil.rmtree(root.folder / "tmp")
            (root.folder / "tmp").mkdir()
            emulated = " (emulated)" if root.is_emulated else ""
            print(f"{root.architecture}{emulated}", flush=True)
            for step in steps(root.architecture, version):
                found = failure(root, step)
                if found:
                    failures.append(f"{root.architecture}: {found}")
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


def _missing(roots: list[Root]) -> list[Missing]:
    missing = [one for program in FOR_ROOTS for one in program.missing()]
    for root in roots:
        if root.is_emulated:
            emulator = f"{root.architecture} emulated"
            missing += Program(root.emulator, emulator, ("qemu-user-static",)).missing()
    if prerequisites.java_home() is None:
        missing.append(Missing("a JDK", (prerequisites.JDK_PACKAGE,)))
    if os.geteuid() != 0:
        missing.append(Missing("root", advice="run as root, which chroot needs"))
    return missing


if __name__ == "__main__":
    sys.exit(main())
