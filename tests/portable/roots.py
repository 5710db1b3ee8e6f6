"""Roots of Debian 11, and programs that run in them: emulated where the architecture is another."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SUITE = "bullseye"
MIRROR = "http://deb.debian.org/debian"
PACKAGES = ("libc6", "python3-minimal", "openjdk-11-jre-headless")
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
ARCHIVE = "/opt/elastane"
SECONDS = 300
# chroot is in a folder for administrators.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Root:
    """A folder with Debian's files, for one architecture."""

    folder: Path
    architecture: str

    @property
    def is_emulated(self) -> bool:
        return platform.machine() != self.architecture

    @property
    def emulator(self) -> str:
        return f"qemu-{self.architecture}-static"

    def make(self) -> None:
        """Unpacks the packages, once for each list of packages. No script of theirs runs."""
        wanted = f"{SUITE} {' '.join(PACKAGES)}\n"
        stamp = self.folder.with_suffix(".complete")
        if stamp.is_file() and stamp.read_text() == wanted:
            return
        print(f"unpacking Debian's {SUITE} for {self.architecture}", flush=True)
        stamp.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                *("mmdebstrap", "--quiet", "--mode=root", "--variant=extract"),
                f"--architectures={DEBIAN_NAMES[self.architecture]}",
                f"--include={','.join(PACKAGES)}",
                *(SUITE, str(self.folder), MIRROR),
            ],
            check=True,
        )
        if self.is_emulated:
            shutil.copy(str(shutil.which(self.emulator)), self.folder / "usr" / "bin")
        for name in ("proc", "tmp"):
            (self.folder / name).mkdir(exist_ok=True)
        stamp.write_text(wanted)

    def put(self, source: Path, place: str) -> None:
        """Copies a file or folder to a place in the root, in the stead of what is there."""
        target = self.folder / place.lstrip("/")
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a program of the root by its full path, with a /proc and pids of its own."""
        emulated = [f"/usr/bin/{self.emulator}", *command] if self.is_emulated else command
        return subprocess.run(
            [
                *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
                f"--mount-proc={self.folder / 'proc'}",
                *("chroot", str(self.folder), *emulated),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
            env={"PATH": PATH, "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp"},
        )
