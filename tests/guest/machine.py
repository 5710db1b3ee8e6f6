"""The guest's two processes: the server of the host's files, and the virtual machine."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guest.kernel import Kernel
from guest.tools import Tools
from guest.work import ALIVE_LINE, EXIT_LINE, Boot

SCRATCH_BYTES = 1 << 30
# Without hardware virtualization, under which the packaged kernel hangs on some hosts. The guest's
# timings would not describe a real node either way.
_ACCELERATION = ["-accel", "tcg,thread=multi", "-cpu", "max"]
_KERNEL_LINE = (
    "console=ttyS0 quiet panic=-1 psi=1 mitigations=off random.trust_cpu=on no_timer_check"
)
_SOCKET_SECONDS = 10
# A guest that runs says so each half minute.
_SILENT_SECONDS = 180


class GuestFailed(Exception):
    """The guest gave no exit code of its command."""


@dataclass(frozen=True)
class Size:
    """The guest's size."""

    memory_mb: int
    processors: int


def run(
    folder: Path,
    kernel: Kernel,
    boot: Boot,
    archive: Path,
    size: Size,
    seconds: int,
    tools: Tools,
) -> int:
    """Runs the guest to its end, prints its output and returns its command's exit code.

    The guest ends itself after `seconds`; a guest that hangs is killed a little later, or once it
    was silent for some minutes, since it says that it runs.
    """
    scratch = folder / "scratch.img"
    with scratch.open("wb") as image:
        image.truncate(SCRATCH_BYTES)
    with (
        tempfile.TemporaryDirectory() as sockets,
        _files_served(Path(sockets), tools) as (socket, files),
    ):
        command = _qemu(kernel, boot, archive, scratch, socket, size, tools)
        machine = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        begin = time.monotonic()
        bound = Bound(machine, files, seconds + boot.grace_seconds)
        try:
            code = _follow(machine, bound)
        finally:
            bound.end()
            machine.kill()
            machine.wait()
    scratch.unlink()
    if code is None:
        took = time.monotonic() - begin
        raise GuestFailed(f"the guest {bound.ended}, after {took:.0f} s of {seconds} s")
    return code


class Bound:
    """Kills a machine after some time, or when it was silent for too long."""

    def __init__(
        self,
        machine: subprocess.Popen[bytes],
        files: subprocess.Popen[bytes],
        seconds: float,
        silent_seconds: float = _SILENT_SECONDS,
    ) -> None:
        self.ended = "ended without a result"
        self._machine = machine
        self._files = files
        self._newest = time.monotonic()
        self._deadline = self._newest + seconds
        self._silent_seconds = silent_seconds
        self._ended = threading.Event()
        threading.Thread(target=self._watch, name="guest's bound", daemon=True).start()

    def has_spoken(self) -> None:
        self._newest = time.monotonic()

    def end(self) -> None:
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(1.0):
            if time.monotonic() > min(self._deadline, self._newest + self._silent_seconds):
                served = "still" if self._files.poll() is None else "no longer"
                self.ended = f"stands still, this machine's files are {served} served"
                self._machine.kill()
                return


def _follow(machine: subprocess.Popen[bytes], bound: Bound) -> int | None:
    code = None
    for raw in machine.stdout or ():
        bound.has_spoken()
        line = raw.decode(errors="replace").rstrip("\r\n")
        if line.endswith(ALIVE_LINE):
            # It may follow a part of another line.
            line = line.removesuffix(ALIVE_LINE)
            if not line:
                continue
        told = re.fullmatch(rf"{EXIT_LINE}(\d+)", line)
        if told:
            code = int(told[1])
        else:
            print(line, flush=True)
    return code


@contextmanager
def _files_served(folder: Path, tools: Tools) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Serves this machine's files on a socket; the guest mounts them read-only."""
    socket = folder / "files.sock"
    log = folder / "virtiofsd.log"
    options = ["-o", "source=/", "-o", "cache=always", "-o", "sandbox=chroot", "-f"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [str(tools.virtiofsd), f"--socket-path={socket}", *options],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + _SOCKET_SECONDS
        while not socket.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                sys.stderr.write(log.read_text(errors="replace"))
                raise GuestFailed("virtiofsd does not serve this machine's files")
            time.sleep(0.02)
        yield socket, server
    finally:
        server.kill()
        server.wait()


def _qemu(
    kernel: Kernel,
    boot: Boot,
    archive: Path,
    scratch: Path,
    socket: Path,
    size: Size,
    tools: Tools,
) -> list[str]:
    memory = f"memory-backend-memfd,id=memory,size={size.memory_mb}M,share=on"
    return [
        str(tools.qemu),
        *_ACCELERATION,
        *("-machine", "q35,memory-backend=memory", "-object", memory),
        *("-m", f"{size.memory_mb}M", "-smp", str(size.processors)),
        *("-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio", "-monitor", "none"),
        *("-kernel", str(kernel.image), "-initrd", str(archive)),
        *("-append", f"{_KERNEL_LINE} {boot.kernel_options}"),
        *("-chardev", f"socket,id=files,path={socket}"),
        *("-device", "vhost-user-fs-pci,chardev=files,tag=host"),
        *("-drive", f"file={scratch},format=raw,if=none,id=scratch,cache=none,aio=threads"),
        *("-device", "virtio-blk-pci,drive=scratch"),
    ]
