"""The guest's kernel: Debian's kernel for virtual machines, unpacked but not installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.prerequisites import APT_GET, can_install
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
        """The files of modules and their dependencies, in loading order."""
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
                # modprobe shows built-in modules as `builtin NAME`.
                word, _, path = line.strip().partition(" ")
                if word == "insmod":
                    files[Path(path.split()[0])] = None
        return list(files)


def fetch(folder: Path, tools: Tools) -> Kernel:
    """Downloads and unpacks the newest kernel in the package lists, once."""
    named = _newest() or (_update_lists() and _newest())
    if not named:
        raise RuntimeError(f"apt-cache knows no {META_PACKAGE}: run `apt-get update` as root")
    package, version = named
    root = folder / package
    stamp = root / ".complete"
    if not stamp.is_file():
        print(f"fetching {package} to {folder}", flush=True)
        shutil.rmtree(root, ignore_errors=True)
        downloads = folder / "downloads"
        shutil.rmtree(downloads, ignore_errors=True)
        downloads.mkdir(parents=True)
        _download(package, downloads)
        (file,) = downloads.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(file), str(root)], check=True)
        shutil.rmtree(downloads)
        subprocess.run([str(tools.depmod), "-b", str(root), version], check=True)
        stamp.touch()
    return Kernel(root=root, version=version)


def _newest() -> tuple[str, str] | None:
    """The newest kernel's package and version; None where the package lists are missing."""
    shown = subprocess.run(
        ["apt-cache", "depends", META_PACKAGE], check=False, capture_output=True, text=True
    ).stdout
    match = re.search(r"Depends: (linux-image-(\S+))", shown)
    return (match[1], match[2]) if match else None


def _update_lists() -> bool:
    """Updates the package lists where the user is root."""
    if not can_install():
        return False
    print("updating the package lists with apt-get", flush=True)
    return subprocess.run([*APT_GET, "update"], check=False).returncode == 0


def _download(package: str, folder: Path) -> None:
    command = [*APT_GET, "-o", "APT::Sandbox::User=root", "download", package]
    done = subprocess.run(command, check=False, cwd=folder)
    # Old package lists may name a version that the mirror no longer holds.
    if done.returncode != 0 and _update_lists():
        subprocess.run(command, check=True, cwd=folder)
    elif done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, command)
