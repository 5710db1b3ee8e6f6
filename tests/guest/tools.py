"""The programs that make and run the guest."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from cluster import prerequisites


class MissingTool(Exception):
    """Something that the guest needs is missing."""


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
        """Finds the programs, or raises MissingTool with one line that says what to install."""
        machine = platform.machine()
        if machine != "x86_64":
            raise MissingTool(f"this machine is {machine}: the guest's kernel is for x86_64 only")
        for name in ("apt-get", "dpkg-deb"):
            _on_path(name, "the guest's kernel comes from Debian's packages")
        places = prerequisites.VIRTIOFSD_PLACES
        virtiofsd = next((place for place in places if place.is_file()), None)
        packages = [package for program in prerequisites.FOR_TESTS for package in program.packages]
        advice = f"install it with `{prerequisites.install_command(packages)}`"
        if virtiofsd is None:
            named = " or ".join(map(str, places))
            raise MissingTool(f"there is no virtiofsd at {named}: {advice}")
        return cls(
            qemu=_on_path("qemu-system-x86_64", advice),
            virtiofsd=virtiofsd,
            busybox=_on_path("busybox", advice),
            cpio=_on_path("cpio", advice),
            modprobe=_on_path("modprobe", advice),
            depmod=_on_path("depmod", advice),
        )


def _on_path(program: str, advice: str) -> Path:
    found = prerequisites.find_program(program)
    if found is None:
        raise MissingTool(f"there is no `{program}` on the PATH: {advice}")
    return found
