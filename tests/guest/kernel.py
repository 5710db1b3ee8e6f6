"""The guest's kernel: Debian's for virtual machines, unpacked and never installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from guest.tools import Tools

META_PACKAGE = "linux-image-cloud-amd64"


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package."""

    root: Path
    version: str

    @property
    def image(self) -> Path:
        return self.root / "boot" / f"vmlinuz-{self.version}"

    def modules(self, tools: Tools, names: list[str]) -> list[Path]:
        """The files of modules and of all that they need, in the order to load them."""
        files: dict[Path, None] = {}
        for name in names:
            command = [
                str(tools.modprobe),
                f"--dirname={self.root}",
                f"--set-version={self.version}",
                "--show-depends",
                name,
            ]
            shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for line in shown.splitlines():
                # What is built into the kernel is shown as `builtin NAME`.
                word, _, path = line.strip().partition(" ")
                if word == "insmod":
                    files[Path(path.split()[0])] = None
        return list(files)


def fetch(folder: Path, tools: Tools) -> Kernel:
    """Downloads and unpacks the newest kernel that the package lists know, once."""
    shown = subprocess.run(
        ["apt-cache", "depends", META_PACKAGE], check=True, capture_output=True, text=True
    ).stdout
    match = re.search(r"Depends: (linux-image-(\S+))", shown)
    if match is None:
        raise RuntimeError(f"apt-cache knows no {META_PACKAGE}: run `apt-get update`")
    package, version = match.groups()
    root = folder / package
    stamp = root / ".complete"
    if not stamp.is_file():
        print(f"fetching {package} to {folder}", flush=True)
        shutil.rmtree(root, ignore_errors=True)
        downloads = folder / "downloads"
        shutil.rmtree(downloads, ignore_errors=True)
        downloads.mkdir(parents=True)
        subprocess.run(
            ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package],
            check=True,
            cwd=downloads,
        )
        (file,) = downloads.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(file), str(root)], check=True)
        shutil.rmtree(downloads)
        subprocess.run([str(tools.depmod), "-b", str(root), version], check=True)
        stamp.touch()
    return Kernel(root=root, version=version)
