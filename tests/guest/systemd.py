"""A guest that boots systemd up to its basic target: the command is a service of it."""

from __future__ import annotations

from guest.work import (
    BY_A_SIGNAL,
    EXIT_LINE,
    OUT_OF_TIME,
    TELL_THAT_ALIVE,
    Boot,
    Work,
)

_TARGET = "elastane-test.target"
_SERVICE = "elastane-test.service"
_UNITS = "/etc/systemd/system"
# The service's group. The command makes groups in it, so in version 2 it may not be in this group
# itself.
DELEGATED = f"system.slice/{_SERVICE}"
# Not needed; the last one would empty /tmp, where a checkout may be.
_LEFT_OUT = ("timers.target", "systemd-timesyncd.service", "systemd-tmpfiles-setup.service")
# systemd takes half a minute to boot on emulated processors.
_GRACE_SECONDS = 120
_KERNEL_OPTIONS = (
    f"systemd.unit={_TARGET}",
    "systemd.show_status=0",
    "systemd.log_target=kmsg",
    "systemd.firstboot=no",
    "fstab=no",
    "luks=no",
    *(f"systemd.mask={unit}" for unit in _LEFT_OUT),
)


def start(work: Work) -> str:
    """The script from when the guest's files are mounted until systemd is the first process."""
    units = {
        _TARGET: f"[Unit]\nRequires={_SERVICE}\nAfter={_SERVICE}\n",
        _SERVICE: _service(work),
        "elastane-test.sh": f"{_ENTER_A_GROUP}{TELL_THAT_ALIVE}\n{work.script}\n",
        "elastane-test-end.sh": TELL_THE_END,
    }
    files = "".join(
        f"cat >/root{_UNITS}/{name} <<'END-OF-FILE'\n{text}END-OF-FILE\n"
        for name, text in units.items()
    )
    return f"""
# With this file, systemd would take the guest for a container.
rm -f /root/.dockerenv
{files}exec switch_root /root /lib/systemd/systemd
"""


# systemd gives the variables to what runs after the command. After the time limit, the script
# prints running processes and the kernel's blocked tasks.
TELL_THE_END = f"""case "$SERVICE_RESULT $EXIT_CODE" in
timeout*) code={OUT_OF_TIME};;
*exited) code=$EXIT_STATUS;;
*) code={BY_A_SIGNAL};;
esac
if [ $code = {OUT_OF_TIME} ]; then ps -eo pid,ppid,stat,args; echo w >/proc/sysrq-trigger; fi
echo; echo "{EXIT_LINE}$code"
"""


# What `DelegateSubgroup=` does from systemd 254 on.
_ENTER_A_GROUP = f"""group=/sys/fs/cgroup/{DELEGATED}/command
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
mkdir $group && echo $$ >$group/cgroup.procs || exit 1
fi
"""


def _service(work: Work) -> str:
    return f"""[Unit]
Wants=basic.target
After=basic.target

[Service]
Type=oneshot
Delegate=yes
ExecStart=/bin/sh {_UNITS}/elastane-test.sh
ExecStopPost=/bin/sh {_UNITS}/elastane-test-end.sh
ExecStopPost=systemctl poweroff --force --force
TimeoutStartSec={work.seconds}
TimeoutStopSec=5
StandardOutput=tty
TTYPath=/dev/ttyS0
Environment=TERM=dumb SYSTEMD_PAGER=cat
"""


UNIFIED = Boot(
    " ".join(["cgroup_no_v1=all", "systemd.unified_cgroup_hierarchy=1", *_KERNEL_OPTIONS]),
    start,
    _GRACE_SECONDS,
    runs_units=True,
)
# Controllers in version 1, processes in a version 2 hierarchy without controllers.
HYBRID = Boot(
    " ".join(["systemd.unified_cgroup_hierarchy=0", *_KERNEL_OPTIONS]),
    start,
    _GRACE_SECONDS,
    runs_units=True,
)
