//! BPF programs that somebody attached to a group, as systemd does for `DeviceAllow=` and `IPAddressDeny=`.

use std::{fs::File, io, os::fd::AsFd, path::Path};

use nix::errno::Errno;

use crate::network::programs_attached;

/// What a group's programs may decide: the kernel's `enum bpf_attach_type`.
const HOOKS: [(u32, &str); 27] = [
    (0, "incoming packets"),
    (1, "outgoing packets"),
    (2, "new sockets"),
    (3, "connections"),
    (6, "devices"),
    (8, "bind"),
    (9, "bind"),
    (10, "connect"),
    (11, "connect"),
    (12, "bind"),
    (13, "bind"),
    (14, "sendmsg"),
    (15, "sendmsg"),
    (18, "sysctl"),
    (19, "recvmsg"),
    (20, "recvmsg"),
    (21, "getsockopt"),
    (22, "setsockopt"),
    (29, "getpeername"),
    (30, "getpeername"),
    (31, "getsockname"),
    (32, "getsockname"),
    (34, "closed sockets"),
    (43, "security"),
    (49, "connect"),
    (50, "sendmsg"),
    (51, "recvmsg"),
];

/// The first hook to which a group of version 2 has a program of its own. The groups around it have their own turn.
pub fn restriction_of(group: &Path) -> io::Result<Option<String>> {
    let group = File::open(group)?;
    for (hook, what) in HOOKS {
        match programs_attached(group.as_fd(), hook) {
            Ok(0) => {}
            Ok(_) => return Ok(Some(format!("a BPF program for {what} is attached"))),
            // A kernel without this hook, or without programs of groups.
            Err(Errno::EINVAL | Errno::ENOSYS) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(None)
}
