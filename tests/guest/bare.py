"""A guest without an init system: a script is the first process."""

from __future__ import annotations

import shlex

from guest.work import EXIT_LINE, OUT_OF_TIME, TELL_THAT_ALIVE, Boot, Work


def start(work: Work) -> str:
    """The script from when the guest's files are mounted to the end.

    After the time limit, the script prints running processes and the kernel's blocked tasks, with
    programs that do not need the host's files. If access to the host's files hangs, no exit code is
    printed.
    """
    return f"""
mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm
mount -t tmpfs run /root/run
mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
mkdir -p /root/sys/fs/bpf
mount -t bpf bpf /root/sys/fs/bpf
(sleep {work.seconds}; echo "== out of time after {work.seconds} s; what runs and what is blocked:"
ps -o pid,ppid,stat,args | grep -v ' \\['
echo 8 >/proc/sys/kernel/printk; echo w >/proc/sysrq-trigger
[ -e /host/no-such-file ] || echo "{EXIT_LINE}{OUT_OF_TIME}"; poweroff -f) &
{TELL_THAT_ALIVE}
chroot /root /bin/sh -c {shlex.quote(work.script)}
code=$?
echo; echo "{EXIT_LINE}$code"
poweroff -f
"""


BARE = Boot("cgroup_no_v1=all", start, grace_seconds=30)
