"""The symbols, versions and libraries that a binary needs, read with readelf."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

FILES = ("elastane", "elastane-agent", "libelastane.so")
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
# RHEL 8 for aarch64 has pages of 64 KiB; the loader refuses segments that are aligned to less.
PAGES = {"x86_64": 4 << 10, "aarch64": 64 << 10}
# Compiled into jemalloc by .cargo/config.toml, which cargo finds only from within the repository.
ALLOCATOR_SETTINGS = b"narenas:"
# The libraries of glibc itself. Everything else is linked in.
LIBRARIES = re.compile(r"(lib(c|m|dl|rt|util|pthread)|ld-linux-(x86-64|aarch64))\.so\.\d+")

# Of --dyn-syms: binding, name and version of an undefined symbol.
UNDEFINED = re.compile(r"\b(GLOBAL|WEAK)\s+\w+\s+UND +([^\s@]+)(?:@@?(\S+))?", re.MULTILINE)
# Of --version-info: a version that the loader demands, even if no symbol has it.
VERSION_NEED = re.compile(r"\bName: (\S+)\s+Flags: (\S+)\s+Version: \d+")
GLIBC = re.compile(r"GLIBC_(\d+(?:\.\d+)+)")
NEEDED_LIBRARY = re.compile(r"\(NEEDED\).*\[(.+)\]")
MACHINE = re.compile(r"^\s*Machine:\s+(.+)$", re.MULTILINE)
LOADED_SEGMENT = re.compile(r"^\s*LOAD\s.*\s0x([0-9a-f]+)$", re.MULTILINE)


def complaints(file: Path, architecture: str, newest: str) -> list[str]:
    """One line for everything that a machine of this architecture with glibc `newest` lacks."""
    printed = _readelf(
        file, "--file-header", "--program-headers", "--dynamic", "--dyn-syms", "--version-info"
    )
    found = faults(printed, architecture, newest)
    if file.name == "libelastane.so" and ALLOCATOR_SETTINGS not in file.read_bytes():
        found.append("its allocator has not the settings of .cargo/config.toml")
    return [f"{file}: {fault}" for fault in found]


def faults(printed: str, architecture: str, newest: str) -> list[str]:
    """As complaints, of the text that readelf prints."""
    found = []
    machine = MACHINE.search(printed)
    segments = LOADED_SEGMENT.findall(printed)
    symbols = UNDEFINED.findall(printed)
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
        f"symbol {name} needs {version}; GLIBC_{newest} is the newest allowed"
        for _, name, version in symbols
        if version and not _has(version, newest)
    ]
    found += [
        f"symbol {name} is of no version and of no library"
        for binding, name, version in symbols
        if binding == "GLOBAL" and not version
    ]
    of_symbols = {version for _, _, version in symbols}
    found += [
        f"needs version {version}; GLIBC_{newest} is the newest allowed"
        for version, flags in VERSION_NEED.findall(printed)
        if flags != "WEAK" and version not in of_symbols and not _has(version, newest)
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
    wanted = _entries(libraries)
    return [
        f"{jar}: {name} is {'not the one of lib/' if name in held else 'missing'}"
        for name in sorted({*held, *wanted})
        if held.get(name) != wanted.get(name)
    ]


def newest_needed(file: Path) -> str:
    """The newest version of glibc that a symbol of the file needs."""
    symbols = UNDEFINED.findall(_readelf(file, "--dyn-syms"))
    versions = [GLIBC.fullmatch(version) for _, _, version in symbols]
    return max((version.group(1) for version in versions if version), key=_parts)


def put_libraries(jar: Path, libraries: dict[str, Path]) -> None:
    """Replaces every library in the jar by those of these architectures."""
    part = jar.with_name(f"{jar.name}.part")
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if not entry.filename.startswith("native/"):
                new.writestr(entry, old.read(entry))
        for name, content in _entries(libraries).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    part.replace(jar)


def _readelf(file: Path, *options: str) -> str:
    return subprocess.run(
        ["readelf", "--wide", *options, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"},
    ).stdout


def _entries(libraries: dict[str, Path]) -> dict[str, bytes]:
    return {
        f"native/linux-{architecture}/{file.name}": file.read_bytes()
        for architecture, file in libraries.items()
    }


def _has(version: str, newest: str) -> bool:
    """Whether glibc `newest` has a version. GLIBC_PRIVATE changes with each release: never."""
    number = GLIBC.fullmatch(version)
    return number is not None and _parts(number.group(1)) <= _parts(newest)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
