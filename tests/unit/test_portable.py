"""Which symbols and libraries a released binary may need, and the messages for others."""

from __future__ import annotations

import platform
import subprocess
import sys
import zipfile
from pathlib import Path

from cluster.paths import Checkout
from portable import binaries


def readelf(
    symbol: str = "memcpy@GLIBC_2.14 (3)",
    machine: str = "AArch64",
    alignment: str = "0x10000",
    library: str = "libc.so.6",
    need: str = "GLIBC_2.14  Flags: none  Version: 3",
) -> str:
    return f"""\
  Machine:                           {machine}
  LOAD           0x000000 0x0000000000000000 0x0000000000000000 0x0036c0 0x0036c0 R   {alignment}
 0x0000000000000001 (NEEDED)             Shared library: [{library}]
     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND 
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND {symbol}
     2: 0000000000001000     8 FUNC    GLOBAL DEFAULT   12 Java_org_elastane_natives_version
  0x0010:   Name: {need}
"""  # noqa: W291


def test_a_binary_that_needs_what_the_oldest_glibc_has_is_fine() -> None:
    for symbol in ("memcpy@GLIBC_2.14 (3)", "fstat@GLIBC_2.28 (9)", "free@GLIBC_2.2.5"):
        assert binaries.faults(readelf(symbol), "aarch64", "2.28") == []


def test_each_fault_is_named() -> None:
    faults = binaries.faults(
        readelf("stat@GLIBC_2.33 (4)", "Advanced Micro Devices X86-64", "0x1000", "libgcc_s.so.1"),
        "aarch64",
        "2.28",
    )
    assert faults == [
        "is for Advanced Micro Devices X86-64, not for aarch64",
        "a segment is aligned to 4096 bytes, less than a page of 65536",
        "needs libgcc_s.so.1, which is not of glibc",
        "symbol stat needs GLIBC_2.33; GLIBC_2.28 is the newest allowed",
    ]


def test_a_private_version_and_no_version_are_faults() -> None:
    assert binaries.faults(readelf("__libc_x@GLIBC_PRIVATE (3)"), "aarch64", "2.28") == [
        "symbol __libc_x needs GLIBC_PRIVATE; GLIBC_2.28 is the newest allowed"
    ]
    assert binaries.faults(readelf("lost"), "aarch64", "2.28") == [
        "symbol lost is of no version and of no library"
    ]
    weak = readelf("lost").replace("GLOBAL DEFAULT  UND", "WEAK   DEFAULT  UND")
    assert binaries.faults(weak, "aarch64", "2.28") == []


def test_a_version_that_no_symbol_has_is_demanded_all_the_same() -> None:
    for version in ("GLIBC_ABI_DT_RELR", "GLIBC_2.36", "GCC_3.0"):
        text = readelf(need=f"{version}  Flags: none  Version: 5")
        assert binaries.faults(text, "aarch64", "2.28") == [
            f"needs version {version}; GLIBC_2.28 is the newest allowed"
        ]
        weak = readelf(need=f"{version}  Flags: WEAK  Version: 5")
        assert binaries.faults(weak, "aarch64", "2.28") == []


def test_the_libraries_of_another_build_leave_the_jar(tmp_path: Path) -> None:
    library = tmp_path / "libelastane.so"
    library.write_text("new")
    jar = tmp_path / "elastane.jar"
    with zipfile.ZipFile(jar, "w") as entries:
        entries.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0")
        entries.writestr("native/linux-x86_64/libelastane.so", "old")
        entries.writestr("native/linux-aarch64/libelastane.so", "old")
    binaries.put_libraries(jar, {"aarch64": library})
    assert binaries.faults_of_jar(jar, {"aarch64": library}) == []
    with zipfile.ZipFile(jar) as entries:
        assert entries.namelist()[0] == "META-INF/MANIFEST.MF"


def test_wrong_usage_is_one_line() -> None:
    for arguments in (
        ["check", "/missing", "--glibc", "2.28", "x86_64"],
        ["check", "/missing", "--glibc", "abc", "x86_64"],
        ["run", "/missing.tar.gz", "x86_64"],
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "portable", *arguments],
            cwd=Checkout().tests,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1), ended.stderr


def test_segments_of_x86_64_may_have_its_only_page_size() -> None:
    text = readelf(machine="Advanced Micro Devices X86-64", alignment="0x1000")
    assert binaries.faults(text, "x86_64", "2.28") == []


def test_a_static_program_is_refused_rather_than_passed() -> None:
    faults = binaries.faults("  Machine:   AArch64\n", "aarch64", "2.28")
    assert faults == [
        "readelf names no machine, segment or symbol: not a dynamic executable or library"
    ]


def test_a_program_of_this_machine_is_read() -> None:
    newest = binaries.newest_needed(Path(sys.executable).resolve())
    faults = binaries.complaints(Path("/bin/ls"), platform.machine(), "2.2")
    assert newest.startswith("2.")
    assert any(fault.startswith("/bin/ls: symbol ") for fault in faults)


def test_a_library_without_the_allocators_settings_is_named(tmp_path: Path) -> None:
    library = tmp_path / "libelastane.so"
    fault = f"{library}: its allocator has not the settings of .cargo/config.toml"
    built = Path("/bin/ls").read_bytes()
    library.write_bytes(built)
    assert fault in binaries.complaints(library, platform.machine(), "2.28")
    library.write_bytes(built + b"narenas:4,dirty_decay_ms:1000")
    assert fault not in binaries.complaints(library, platform.machine(), "2.28")


def test_the_jar_has_the_archives_libraries_and_no_other(tmp_path: Path) -> None:
    libraries = {}
    for architecture in ("x86_64", "aarch64"):
        libraries[architecture] = tmp_path / architecture / "libelastane.so"
        libraries[architecture].parent.mkdir()
        libraries[architecture].write_text(architecture)
    jar = tmp_path / "elastane.jar"
    with zipfile.ZipFile(jar, "w") as entries:
        entries.writestr("native/linux-x86_64/libelastane.so", "of another build")
        entries.writestr("native/linux-riscv64/libelastane.so", "")
    assert [fault.partition(": ")[2] for fault in binaries.faults_of_jar(jar, libraries)] == [
        "native/linux-aarch64/libelastane.so is missing",
        "native/linux-riscv64/libelastane.so is not the one of lib/",
        "native/linux-x86_64/libelastane.so is not the one of lib/",
    ]


def test_help_names_both_commands() -> None:
    helped = subprocess.run(
        [sys.executable, "-m", "portable", "--help"],
        cwd=Checkout().tests,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "check" in helped.stdout
    assert "run" in helped.stdout
