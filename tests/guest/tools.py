"""What must be installed to run the guest."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

VIRTIOFSD_PLACES = (Path("/usr/lib/qemu/virtiofsd"), Path("/usr/libexec/virtiofsd"))
INSTALL = "apt-get install --no-install-recommends qemu-system-x86 busybox-static cpio kmod"


class MissingTool(Exception):
    """Something that the guest needs is not there."""


@dataclass(frozen=True)
class Tools:
    """The programs that make and run the guest."""

    qemu: Path
    virtiofsd: Path
    busybox: Path
    cpio: Path
    modprobe: Path
    depmod: Path

    @classmethod
    def find(cls) -> Tools:
        """Finds them, or says in one line what to install."""
        machine = platform.machine()
        if machine != "x86_64":
            raise MissingTool(f"this machine is {machine}: the guest's kernel is for x86_64 only")
        for name in ("apt-get", "dpkg-deb"):
            _on_path(name, "the guest's kernel comes from Debian's packages")
        virtiofsd = next((place for place in VIRTIOFSD_PLACES if place.is_file()), None)
        if virtiofsd is None:
            places = " or ".join(map(str, VIRTIOFSD_PLACES))
            raise MissingTool(f"there is no virtiofsd at {places}: install it by `{INSTALL}`")
        found = {
            name: _on_path(program, f"install it by `{INSTALL}`")
            for name, program in (
                ("qemu", "qemu-system-x86_64"),
                ("busybox", "busybox"),
                ("cpio", "cpio"),
                ("modprobe", "modprobe"),
                ("depmod", "depmod"),
            )
        }
        return cls(virtiofsd=virtiofsd, **found)


def _on_path(program: str, advice: str) -> Path:
    found = shutil.which(program) or shutil.which(program, path="/sbin:/usr/sbin")
    if found is None:
        raise MissingTool(f"there is no `{program}` on the PATH: {advice}")
    return Path(found)
