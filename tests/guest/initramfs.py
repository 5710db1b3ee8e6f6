"""The guest's initial file system: what the kernel runs first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from guest.kernel import Kernel
from guest.tools import Tools
from guest.work import SCRATCH

_APPLETS = (
    "sh",
    "mount",
    "mkdir",
    "insmod",
    "poweroff",
    "chroot",
    "ip",
    "mke2fs",
    "sleep",
    "ps",
    "grep",
    "cat",
    "rm",
    "switch_root",
)
_FILE_SYSTEMS = ["virtio_pci", "virtio_blk", "virtiofs", "overlay", "ext4", "loop"]
_NETWORK = ["veth", "sch_htb", "nf_tables", "nft_objref", "nft_socket", "nft_limit"]
_MODULES = [*_FILE_SYSTEMS, *_NETWORK]
_FOLDERS = ("bin", "dev", "proc", "sys", "host", "upper", "root", "modules")


def pack(file: Path, kernel: Kernel, start: str, tools: Tools) -> None:
    """Writes the archive from which the guest's kernel boots. `start` is the rest of the first
    process's script, once the guest's files are at /root."""
    root = file.parent / "initramfs"
    shutil.rmtree(root, ignore_errors=True)
    for name in _FOLDERS:
        (root / name).mkdir(parents=True)
    shutil.copy(tools.busybox, root / "bin" / "busybox")
    for applet in _APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    modules = kernel.modules(tools, _MODULES)
    for module in modules:
        shutil.copy(module, root / "modules" / module.name)
    init = root / "init"
    init.write_text(mount_files([module.name for module in modules]) + start)
    init.chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with file.open("wb") as archive:
        subprocess.run(
            [str(tools.cpio), "--create", "--format=newc", "--quiet", "--owner=0:0"],
            check=True,
            cwd=root,
            input=names.encode(),
            stdout=archive,
        )


def mount_files(modules: list[str]) -> str:
    """The beginning of the first process's script.

    The host's files are the lower layer of an overlay whose upper layer is the guest's memory. So
    all programs are available, and written files are lost with the guest."""
    loads = "\n".join(f"insmod /modules/{module}" for module in modules)
    return f"""#!/bin/sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
{loads}
mount -t virtiofs -o ro host /host
mount -t tmpfs upper /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/host,upperdir=/upper/files,workdir=/upper/work overlay /root
mkdir -p /root{SCRATCH}
mke2fs /dev/vda >/dev/null 2>&1
mount -t ext4 /dev/vda /root{SCRATCH}
ip link set lo up
"""
