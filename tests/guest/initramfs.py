"""The guest's initial file system, with the script that it runs from start to end."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from guest.kernel import Kernel
from guest.tools import Tools

EXIT_LINE = "GUEST-EXIT-CODE="
OUT_OF_TIME = 124
SCRATCH = "/mnt/scratch"
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
)
_FILE_SYSTEMS = ["virtio_pci", "virtio_blk", "virtiofs", "overlay", "ext4", "loop"]
_NETWORK = ["veth", "sch_htb", "nf_tables", "nft_objref", "nft_socket", "nft_limit"]
_MODULES = [*_FILE_SYSTEMS, *_NETWORK]
_FOLDERS = ("bin", "dev", "proc", "sys", "host", "upper", "root", "modules")


@dataclass(frozen=True)
class Work:
    """A command to run in the guest, and its time limit."""

    command: list[str]
    folder: Path
    environment: dict[str, str]
    seconds: int


def pack(file: Path, kernel: Kernel, work: Work, tools: Tools) -> None:
    """Writes the archive from which the guest's kernel boots."""
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
    init.write_text(start_script([module.name for module in modules], work))
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


def start_script(modules: list[str], work: Work) -> str:
    """The guest's first process.

    The host's files are the lower layer of an overlay whose upper layer is the guest's memory. So
    all programs are available, and written files are lost with the guest.

    After the time limit, the script prints running processes and the kernel's blocked tasks, with
    programs that do not need the host's files. If access to the host's files hangs, no exit code is
    printed.
    """
    inside = [f"cd {shlex.quote(str(work.folder))}"]
    inside += [f"export {key}={shlex.quote(value)}" for key, value in work.environment.items()]
    inside.append(shlex.join(work.command))
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
mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm /root{SCRATCH}
mount -t tmpfs run /root/run
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
mkdir -p /root/sys/fs/bpf
mount -t bpf bpf /root/sys/fs/bpf
mke2fs /dev/vda >/dev/null 2>&1
mount -t ext4 /dev/vda /root{SCRATCH}
ip link set lo up
(sleep {work.seconds}; echo "== out of time after {work.seconds} s; what runs and what is blocked:"
ps -o pid,ppid,stat,args | grep -v ' \\['
echo 8 >/proc/sys/kernel/printk; echo w >/proc/sysrq-trigger
[ -e /host/no-such-file ] || echo "{EXIT_LINE}{OUT_OF_TIME}"; poweroff -f) &
chroot /root /bin/sh -c {shlex.quote("; ".join(inside[:-1]) + " && " + inside[-1])}
echo "{EXIT_LINE}$?"
poweroff -f
"""
