"""What must be installed before the build and the tests, and the command that installs it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import MissingArtifact

OLDEST_JAVA = 17
OLDEST_PYTHON = (3, 9)
OLDEST_RUST = (1, 95)

JDK_PACKAGE = "openjdk-17-jdk-headless"
RUSTUP = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
APT_GET = ("apt-get", "-qq", "-o", "Acquire::Retries=3")
VIRTIOFSD_PLACES = (Path("/usr/lib/qemu/virtiofsd"), Path("/usr/libexec/virtiofsd"))


@dataclass(frozen=True)
class Missing:
    """Something that is missing or too old, and what installs it."""

    name: str
    packages: tuple[str, ...] = ()
    """Debian's packages; empty where `advice` says what to do instead."""
    advice: str = ""


@dataclass(frozen=True)
class Program:
    """A program that must be on the PATH, and the Debian packages that bring it."""

    command: str
    name: str
    packages: tuple[str, ...]

    def missing(self) -> list[Missing]:
        if find_program(self.command):
            return []
        return [Missing(f"{self.name} (`{self.command}`)", self.packages)]


FOR_BUILD = (
    Program("mvn", "Maven", ("maven",)),
    Program("cc", "a C compiler", ("gcc", "libc6-dev")),
)
# The virtual machine with cgroup version 2, the network tests, the page, and the secure cluster.
FOR_TESTS = (
    Program("qemu-system-x86_64", "QEMU", ("qemu-system-x86",)),
    Program("busybox", "BusyBox", ("busybox-static",)),
    Program("cpio", "cpio", ("cpio",)),
    Program("curl", "curl", ("curl",)),
    Program("modprobe", "kmod", ("kmod",)),
    Program("nft", "nftables", ("nftables",)),
    Program("chromium", "Chromium", ("chromium", "fonts-dejavu-core")),
    Program("chromedriver", "ChromeDriver", ("chromium-driver",)),
    Program("npm", "npm", ("npm",)),
    Program("ip", "iproute2", ("iproute2",)),
    Program("nsenter", "util-linux", ("util-linux",)),
    Program("kinit", "Kerberos's commands", ("krb5-user",)),
    Program("krb5kdc", "a Kerberos KDC", ("krb5-kdc",)),
    Program("kadmin.local", "its administration", ("krb5-admin-server",)),
)

# Packages that come with a service, which is neither started nor enabled.
SERVICES = ("krb5-kdc", "krb5-admin-server")
POLICY = Path("/usr/sbin/policy-rc.d")


def find_program(command: str) -> Path | None:
    """Administrators' programs are found although their folders are not on a user's PATH."""
    found = shutil.which(command) or shutil.which(command, path="/usr/sbin:/sbin")
    return Path(found) if found else None


def required_program(command: str) -> Path:
    found = find_program(command)
    if found is None:
        raise MissingArtifact(f"{command} is missing: `make check` names the package to install")
    return found


def java_home() -> Path | None:
    """The Java to run everything with: JAVA_HOME, else the one on the PATH."""
    configured = os.environ.get("JAVA_HOME")
    if configured:
        return Path(configured)
    java = shutil.which("java")
    return Path(java).resolve().parents[1] if java else None


def missing_prerequisites(for_tests: bool) -> list[Missing]:
    """Everything missing or too old; `for_tests` adds the programs that only `make test` needs."""
    missing = [*_python(), *_java()]
    for program in FOR_BUILD:
        missing += program.missing()
    missing += _rust()
    if for_tests:
        for program in FOR_TESTS:
            missing += program.missing()
        missing += _virtiofsd()
    return missing


def packages_of(missing: list[Missing]) -> list[str]:
    """The Debian packages to install, each once."""
    return list(dict.fromkeys(package for one in missing for package in one.packages))


def install_command(packages: list[str]) -> str:
    """The command that installs packages."""
    return f"apt-get install --no-install-recommends {' '.join(packages)}"


def describe(missing: list[Missing]) -> list[str]:
    """One line for everything that packages install, and one for each other missing thing."""
    packaged = [one for one in missing if one.packages]
    lines = [f"missing: {one.name}: {one.advice}" for one in missing if not one.packages]
    if packaged:
        names = ", ".join(one.name for one in packaged)
        command = install_command(packages_of(packaged))
        lines.insert(0, f"missing: {names}: install with `{command}`")
    return lines


def can_install() -> bool:
    """Whether this user may install Debian's packages."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str]) -> None:
    """Installs packages without a question; raises CalledProcessError where apt-get fails."""
    print(f"installing {' '.join(packages)} with apt-get", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([*APT_GET, "update"], check=True, env=quiet)
    with _no_services_started():
        subprocess.run(
            [*APT_GET, "install", "--yes", "--no-install-recommends", *packages],
            check=True,
            env=quiet,
            stdout=subprocess.DEVNULL,
        )
    services = [package for package in packages if package in SERVICES]
    if services and shutil.which("systemctl"):
        subprocess.run(["systemctl", "disable", "--now", "--quiet", *services], check=False)


@contextmanager
def _no_services_started() -> Iterator[None]:
    """Debian asks a program of this name whether it may start a service."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def _python() -> list[Missing]:
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        advice = f"install Python {oldest} or newer as `python3`"
        return [Missing(f"Python {oldest} (python3 is {sys.version.split()[0]})", advice=advice)]
    # Debian's Python cannot make an environment without this package.
    if importlib.util.find_spec("ensurepip") is None:
        return [Missing("Python's venv", ("python3-venv",))]
    return []


def _java() -> list[Missing]:
    name = f"JDK {OLDEST_JAVA}"
    home = java_home()
    if home is None:
        return [Missing(name, (JDK_PACKAGE,))]
    compiler = home / "bin" / "javac"
    problem = _compiler_problem(compiler)
    if problem is None:
        return []
    name = f"{name} ({problem})"
    if os.environ.get("JAVA_HOME"):
        # An installed package would not be used.
        return [Missing(name, advice=f"set JAVA_HOME to a JDK {OLDEST_JAVA} or newer, or unset it")]
    return [Missing(name, (JDK_PACKAGE,))]


def _compiler_problem(compiler: Path) -> str | None:
    if not compiler.is_file():
        return f"there is no compiler {compiler}"
    printed = subprocess.run(
        [str(compiler), "-version"], capture_output=True, text=True, check=False
    )
    version = re.search(r"javac (?:1\.)?(\d+)", printed.stdout + printed.stderr)
    if version is None:
        return f"{compiler} -version prints no version"
    return f"{compiler} is {version.group(0)}" if int(version.group(1)) < OLDEST_JAVA else None


def _rust() -> list[Missing]:
    name = f"Rust {'.'.join(map(str, OLDEST_RUST))}"
    advice = f"install with `{RUSTUP}`"
    if shutil.which("cargo") is None:
        return [Missing(f"{name} (`cargo`)", advice=advice)]
    if shutil.which("rustup"):
        # It fetches the version that rust-toolchain.toml names.
        return []
    printed = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"cargo (\d+)\.(\d+)", printed.stdout)
    if version and (int(version.group(1)), int(version.group(2))) >= OLDEST_RUST:
        return []
    found = version.group(0) if version else "of unknown version"
    return [Missing(f"{name} (`cargo` is {found})", advice=advice)]


def _virtiofsd() -> list[Missing]:
    if any(place.is_file() for place in VIRTIOFSD_PLACES):
        return []
    # Debian 12 installs virtiofsd with QEMU; later releases have a package for it.
    package = "virtiofsd" if find_program("qemu-system-x86_64") else "qemu-system-x86"
    return [Missing("virtiofsd", (package,))]
