//! Why a group's network cannot be measured or limited.

use std::{
    io,
    path::{Path, PathBuf},
};

use nix::errno::Errno;

use super::{nft::program::NftError, slots::MOST_GROUPS};
use crate::actuators::KernelFileError;

/// Why the network of one group, or of all groups, cannot be measured or limited.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    #[error("BPF programs on cgroups do not work here: cannot {action}: {source}; {needed}")]
    Unavailable { action: &'static str, source: io::Error, needed: &'static str },
    #[error("cannot {action} {}: {source}{}", group.display(), hint(source))]
    Group { action: &'static str, group: PathBuf, source: io::Error },
    #[error("{} is not a cgroup2 group: only cgroup2 groups are measured", group.display())]
    NotCgroup2 { group: PathBuf },
    #[error("cannot measure {}: all {MOST_GROUPS} counters are taken", group.display())]
    Full { group: PathBuf },
    #[error("{} is {value}: another program set it, so the agent leaves it", path.display())]
    Foreign { path: PathBuf, value: String },
    #[error("no writable {what} is mounted")]
    NotMounted { what: &'static str },
    #[error("only sent traffic can be classified: set network.devices")]
    NoDevices,
    #[error(transparent)]
    Nft(#[from] NftError),
    #[error(transparent)]
    KernelFile(#[from] KernelFileError),
}

fn hint(error: &io::Error) -> &'static str {
    if error.raw_os_error() == Some(Errno::EPERM as i32) {
        "; a parent group may hold a BPF program of another owner that allows no other program"
    } else {
        ""
    }
}

impl NetworkError {
    pub(super) fn unavailable(action: &'static str, source: io::Error) -> Self {
        let needed = match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EPERM) => {
                "needs CAP_BPF and CAP_NET_ADMIN; CAP_SYS_ADMIN before Linux 5.8, \
                 and an unlimited RLIMIT_MEMLOCK before 5.11"
            }
            Some(Errno::ENOSYS) => "needs a kernel with CONFIG_BPF_SYSCALL",
            _ => "needs Linux 5.7 with CONFIG_CGROUP_BPF",
        };
        Self::Unavailable { action, source, needed }
    }

    pub(super) fn group(action: &'static str, group: &Path, source: io::Error) -> Self {
        let group = group.into();
        // bpf(2) answers EBADF for a directory of another file system.
        if source.raw_os_error() == Some(Errno::EBADF as i32) {
            return Self::NotCgroup2 { group };
        }
        Self::Group { action, group, source }
    }

    pub(super) fn full(group: &Path) -> Self {
        Self::Full { group: group.into() }
    }
}
