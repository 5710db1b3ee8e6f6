"""What is missing is installed where possible, else named with the command to install it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap
from cluster import prerequisites
from cluster.paths import Checkout
from cluster.prerequisites import Missing

BOOTSTRAP = Checkout().tests / "bootstrap.py"


def run(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BOOTSTRAP), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def program(folder: Path, name: str, prints: str) -> Path:
    """A program that only prints, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho {prints}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_one_line_names_what_packages_bring(tmp_path: Path, options: list[str]) -> None:
    done = run({"PATH": str(tmp_path)}, *options)
    assert done.returncode == 1
    packages, rust = done.stderr.splitlines()
    assert "JDK 17" in packages
    assert "Maven (`mvn`)" in packages
    assert packages.endswith(
        "`apt-get install --no-install-recommends openjdk-17-jdk-headless maven gcc libc6-dev`"
    )
    assert "https://sh.rustup.rs" in rust


@pytest.mark.parametrize("printed", ["javac 11.0.22", "javac 1.8.0_402", "gibberish"])
def test_a_java_that_is_too_old_is_named_with_its_place(tmp_path: Path, printed: str) -> None:
    compiler = program(tmp_path / "bin", "javac", printed)
    done = run({"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)})
    (line,) = (line for line in done.stderr.splitlines() if "JDK 17" in line)
    assert str(compiler) in line
    assert "set JAVA_HOME" in line


@pytest.mark.parametrize("printed", ["cargo 1.63.0", "gibberish"])
def test_a_rust_that_is_too_old_is_named(tmp_path: Path, printed: str) -> None:
    program(tmp_path, "cargo", printed)
    done = run({"PATH": str(tmp_path)})
    assert "rustup.rs" in done.stderr.splitlines()[-1]
    program(tmp_path, "cargo", "cargo 1.95.0")
    assert "rustup.rs" not in run({"PATH": str(tmp_path)}).stderr


def test_the_tests_need_more_than_the_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(prerequisites, "find_program", lambda _: None)
    monkeypatch.setattr(prerequisites, "VIRTIOFSD_PLACES", (tmp_path / "virtiofsd",))
    build = prerequisites.packages_of(prerequisites.missing_prerequisites(for_tests=False))
    tests = prerequisites.packages_of(prerequisites.missing_prerequisites(for_tests=True))
    assert set(tests) - set(build) == {
        "qemu-system-x86",
        "busybox-static",
        "cpio",
        "curl",
        "kmod",
        "nftables",
        "chromium",
        "chromium-driver",
        "fonts-dejavu-core",
        "npm",
        "iproute2",
        "util-linux",
        "krb5-user",
        "krb5-kdc",
        "krb5-admin-server",
    }


class Machine:
    """A machine that lacks packages until they are installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, is_root: bool) -> None:
        self.missing = [Missing("QEMU", ("qemu-system-x86",)), Missing("cpio", ("cpio",))]
        self.installed: list[list[str]] = []
        monkeypatch.setattr(bootstrap, "missing_prerequisites", lambda for_tests: self.missing)
        monkeypatch.setattr(bootstrap, "can_install", lambda: is_root)
        monkeypatch.setattr(bootstrap, "install", self.install)

    def install(self, packages: list[str]) -> None:
        self.installed.append(packages)
        self.missing = [one for one in self.missing if not set(one.packages) & set(packages)]


def test_root_gets_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, is_root=True)
    assert bootstrap.are_prerequisites_there(for_tests=True, may_install=True)
    assert machine.installed == [["qemu-system-x86", "cpio"]]
    assert bootstrap.are_prerequisites_there(for_tests=True, may_install=True)
    assert len(machine.installed) == 1


@pytest.mark.parametrize(("is_root", "may_install"), [(False, True), (True, False)])
def test_nobody_else_does(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_root: bool,
    may_install: bool,
) -> None:
    machine = Machine(monkeypatch, is_root)
    assert not bootstrap.are_prerequisites_there(for_tests=True, may_install=may_install)
    assert machine.installed == []
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "missing: QEMU, cpio: install with "
        "`apt-get install --no-install-recommends qemu-system-x86 cpio`"
    )


def test_what_no_package_brings_is_still_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(monkeypatch, is_root=True)
    machine.missing.append(Missing("Rust", advice="see rustup"))
    assert not bootstrap.are_prerequisites_there(for_tests=True, may_install=True)
    assert capsys.readouterr().err == "missing: Rust: see rustup\n"
