#!/usr/bin/env python3
"""Checks that the released binaries run on an older glibc.

`put` replaces the libraries in the jar by those of the folder. `check` reads what each binary
needs and names what glibc GLIBC does not have. `run` unpacks the
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
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster import prerequisites
from cluster.paths import Checkout
from cluster.prerequisites import Missing, Program
from cluster.signals import interrupt_on_termination
from portable import binaries
from portable.roots import ARCHIVE, DEBIAN_NAMES, Root
from portable.steps import CLASSES, LOGS, failure, steps

INTERRUPTED = 130
READELF = Program("readelf", "readelf", ("binutils",))
JAR = "lib/elastane-scheduler-*.jar"
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
    put = commands.add_parser("put", help="put the libraries of a folder into its jar")
    check = commands.add_parser("check", help="read what the binaries of a folder need")
    for one in (put, check):
        one.add_argument("folder", type=Path, help="the unpacked archive")
    check.add_argument("--glibc", required=True, metavar="GLIBC", help="the oldest one, as 2.28")
    run = commands.add_parser("run", help="run an archive's programs on Debian 11")
    run.add_argument("archive", type=Path, help="made by `make dist`")
    for one in (put, check, run):
        one.add_argument("architectures", nargs="+", choices=list(DEBIAN_NAMES))
    arguments = parser.parse_args()
    problem = _problem(arguments)
    if problem is not None:
        print(f"portable: {problem}", file=sys.stderr)
        return 2
    interrupt_on_termination()
    try:
        if arguments.command == "put":
            binaries.put_libraries(*_jar_and_libraries(arguments.folder, arguments.architectures))
            return 0
        if arguments.command == "check":
            return check_folder(arguments.folder, arguments.glibc, arguments.architectures)
        return run_archive(arguments.archive, arguments.architectures)
    except subprocess.CalledProcessError as failed:
        command = " ".join(map(str, failed.cmd))
        print(f"failed with exit code {failed.returncode}: {command}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _problem(arguments: argparse.Namespace) -> str | None:
    """What is wrong with the usage, in one line."""
    if arguments.command == "run":
        is_there = arguments.archive.is_file()
        return None if is_there else f"{arguments.archive}: there is no such archive"
    if arguments.command == "check" and not re.fullmatch(r"\d+(\.\d+)+", arguments.glibc):
        return f"--glibc {arguments.glibc}: a version is allowed, such as 2.28"
    folder = arguments.folder
    jars = list(folder.glob(JAR))
    if len(jars) != 1:
        return f"{folder}: an unpacked archive has one {JAR}, this folder {len(jars)}"
    missing = [one for one in _files(folder, arguments.architectures) if not one.is_file()]
    return f"{missing[0]} is missing" if missing else None


def _files(folder: Path, architectures: list[str]) -> list[Path]:
    return [
        folder / ("lib" if name.endswith(".so") else "bin") / architecture / name
        for architecture in architectures
        for name in binaries.FILES
    ]


def _jar_and_libraries(folder: Path, architectures: list[str]) -> tuple[Path, dict[str, Path]]:
    (jar,) = folder.glob(JAR)
    return jar, {name: folder / "lib" / name / "libelastane.so" for name in architectures}


def check_folder(folder: Path, glibc: str, architectures: list[str]) -> int:
    """Prints one line for each binary, or what is wrong with it."""
    missing = READELF.missing()
    if missing:
        print(*prerequisites.describe(missing), sep="\n", file=sys.stderr)
        return 1
    faults = binaries.faults_of_jar(*_jar_and_libraries(folder, architectures))
    for file in _files(folder, architectures):
        of_file = binaries.complaints(file, file.parent.name, glibc)
        faults += of_file
        if not of_file:
            newest = binaries.newest_needed(file)
            print(f"{file.relative_to(folder)} needs glibc {newest}, at most {glibc}")
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
    folder.mkdir(parents=True, exist_ok=True)
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
