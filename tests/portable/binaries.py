"""What a binary asks of a machine, read with readelf, which knows every architecture."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

FILES = ("elastane", "elastane-agent", "libelastane.so")
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
# RHEL 8 for aarch64 has pages of 64 KiB; the loader refuses segments that are aligned to less.
PAGES = {"x86_64": 4 << 10, "aarch64": 64 << 10}
# The libraries of glibc itself. Everything else is linked in.
LIBRARIES = re.compile(r"(lib(c|m|dl|rt|util|pthread)|ld-linux-(x86-64|aarch64))\.so\.\d+")

NEEDED_SYMBOL = re.compile(r" UND (\S+)@(\w+?)_([0-9.]+)(?:\s|$)")
NEEDED_LIBRARY = re.compile(r"\(NEEDED\).*\[(.+)\]")
MACHINE = re.compile(r"^\s*Machine:\s+(.+)$", re.MULTILINE)
LOADED_SEGMENT = re.compile(r"^\s*LOAD\s.*\s0x([0-9a-f]+)$", re.MULTILINE)


def complaints(file: Path, architecture: str, newest: str) -> list[str]:
    """One line for everything that a machine of this architecture with glibc `newest` lacks."""
    printed = subprocess.run(
        [
            *("readelf", "--wide", "--file-header", "--program-headers"),
            *("--dynamic", "--dyn-syms", str(file)),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
    )
    return [f"{file}: {fault}" for fault in faults(printed.stdout, architecture, newest)]


def faults(printed: str, architecture: str, newest: str) -> list[str]:
    """The same, of readelf's text."""
    found = []
    machine = MACHINE.search(printed)
    segments = LOADED_SEGMENT.findall(printed)
    symbols = NEEDED_SYMBOL.findall(printed)
    if machine is None or not segments or not symbols:
        return ["readelf names no machine, segment or symbol: not a dynamic executable or library"]
    if machine.group(1) != MACHINES[architecture]:
        found.append(f"is for {machine.group(1)}, not for {architecture}")
    page = PAGES[architecture]
    found += [
        f"a segment is aligned to {int(alignment, 16)} bytes, less than a page of {page}"
        for alignment in segments
        if int(alignment, 16) < page
    ]
    found += [
        f"needs {library}, which is not of glibc"
        for library in NEEDED_LIBRARY.findall(printed)
        if not LIBRARIES.fullmatch(library)
    ]
    found += [
        f"symbol {name} needs {family}_{version}; GLIBC_{newest} is the newest allowed"
        for name, family, version in symbols
        if family != "GLIBC" or _parts(version) > _parts(newest)
    ]
    return found


def faults_of_jar(jar: Path, libraries: dict[str, Path]) -> list[str]:
    """One line for each library in the jar that is not the archive's of that architecture."""
    with zipfile.ZipFile(jar) as entries:
        held = {
            name: entries.read(name)
            for name in entries.namelist()
            if name.startswith("native/") and not name.endswith("/")
        }
    wanted = {
        f"native/linux-{architecture}/{file.name}": file.read_bytes()
        for architecture, file in libraries.items()
    }
    return [
        f"{jar}: {name} is {'not the one of lib/' if name in held else 'missing'}"
        for name in sorted({*held, *wanted})
        if held.get(name) != wanted.get(name)
    ]


def newest_needed(file: Path) -> str:
    """The newest version of glibc that a symbol of the file needs."""
    printed = subprocess.run(
        ["readelf", "--wide", "--dyn-syms", str(file)], capture_output=True, text=True, check=True
    )
    versions = [version for _, family, version in NEEDED_SYMBOL.findall(printed.stdout)]
    return max(versions, key=_parts)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
