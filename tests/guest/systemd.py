"""A guest that boots systemd: the command is a unit, beside the host's own slices and services."""

from __future__ import annotations

from guest.work import BY_A_SIGNAL, EXIT_LINE, OUT_OF_TIME, Boot, Work

_TARGET = "elastane-test.target"
_SERVICE = "elastane-test.service"
_UNITS = "/etc/systemd/system"
# What the guest has no use for; the last one empties /tmp, where a checkout may be.
_LEFT_OUT = ("timers.target", "systemd-timesyncd.service", "systemd-tmpfiles-setup.service")
_KERNEL_OPTIONS = (
    f"systemd.unit={_TARGET}",
    "systemd.show_status=0",
    "systemd.log_target=kmsg",
    "fstab=no",
    *(f"systemd.mask={unit}" for unit in _LEFT_OUT),
)


def start(work: Work) -> str:
    """The script from when the guest's files are mounted until systemd is the first process."""
    units = {
        _TARGET: f"[Unit]\nRequires={_SERVICE}\nAfter={_SERVICE}\n",
        _SERVICE: _service(work),
        "elastane-test.sh": f"{work.script}\n",
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


# systemd gives the variables to what runs after the command.
TELL_THE_END = f"""case "$SERVICE_RESULT $EXIT_CODE" in
timeout*) code={OUT_OF_TIME};;
*exited) code=$EXIT_STATUS;;
*) code={BY_A_SIGNAL};;
esac
echo "{EXIT_LINE}$code"
"""


def _service(work: Work) -> str:
    return f"""[Unit]
Requires=basic.target
After=basic.target

[Service]
Type=oneshot
ExecStart=/bin/sh {_UNITS}/elastane-test.sh
ExecStopPost=/bin/sh {_UNITS}/elastane-test-end.sh
ExecStopPost=systemctl poweroff --force --force
TimeoutStartSec={work.seconds}
StandardOutput=tty
TTYPath=/dev/ttyS0
Environment=TERM=dumb SYSTEMD_PAGER=cat
"""


UNIFIED = Boot(" ".join(["cgroup_no_v1=all", *_KERNEL_OPTIONS]), start, runs_units=True)
# Controllers in version 1, processes in a version 2 hierarchy without controllers.
HYBRID = Boot(
    " ".join(["systemd.unified_cgroup_hierarchy=0", *_KERNEL_OPTIONS]), start, runs_units=True
)
