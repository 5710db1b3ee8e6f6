//! Why a group's network cannot be measured or limited.

use std::{
    io,
    path::{Path, PathBuf},
};

use nix::errno::Errno;

use super::{assembler::AssembleError, nft::NftError, slots::MOST_GROUPS};
use crate::actuators::KernelFileError;

/// What the networks of groups lack, or one of them.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// This host lacks what is needed; the text says what.
    #[error("BPF programs on cgroups do not work here: cannot {action}: {source}; {needed}")]
    Unavailable {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
        /// What the host has to have for it.
        needed: &'static str,
    },
    /// Something about one group failed.
    #[error("cannot {action} {}: {source}{}", group.display(), hint(source))]
    Group {
        /// What was tried.
        action: &'static str,
        /// The group's directory.
        group: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The directory is in no cgroup2 file system.
    #[error("{} is no cgroup2 group: the network is measured only there", group.display())]
    NotCgroup2 {
        /// The directory.
        group: PathBuf,
    },
    /// All counters are taken.
    #[error("cannot measure {}: {most} groups are measured already", group.display())]
    Full {
        /// The group's directory.
        group: PathBuf,
        /// How many groups there may be.
        most: u32,
    },
    /// Somebody else has set up the group for the same.
    #[error("{} is {value}, which is not the agent's and stays", path.display())]
    Foreign {
        /// The file that says so.
        path: PathBuf,
        /// What it holds.
        value: String,
    },
    /// A file system of groups is missing.
    #[error("no {what} is mounted to be written")]
    NotMounted {
        /// What it would be.
        what: &'static str,
    },
    /// Nothing is to be shaped, and this does nothing else.
    #[error("it only shares what is sent: set network.devices")]
    NoDevices,
    /// A program that the agent runs for it failed.
    #[error(transparent)]
    Nft(#[from] NftError),
    /// A kernel file.
    #[error(transparent)]
    KernelFile(#[from] KernelFileError),
    /// A program could not be put together.
    #[error("BPF program: {0}")]
    Program(#[from] AssembleError),
}

fn hint(error: &io::Error) -> &'static str {
    if error.raw_os_error() == Some(Errno::EPERM as i32) {
        "; a group above may hold a BPF program of somebody else that allows no other"
    } else {
        ""
    }
}

impl NetworkError {
    pub(super) fn unavailable(action: &'static str, source: io::Error) -> Self {
        let needed = match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EPERM) => {
                "it takes CAP_BPF and CAP_NET_ADMIN, before Linux 5.8 CAP_SYS_ADMIN, \
                 before 5.11 also RLIMIT_MEMLOCK at infinity"
            }
            Some(Errno::ENOSYS) => "it takes a kernel with CONFIG_BPF_SYSCALL",
            _ => "it takes Linux 4.20 with CONFIG_CGROUP_BPF",
        };
        Self::Unavailable {
            action,
            source,
            needed,
        }
    }

    pub(super) fn group(action: &'static str, group: &Path, source: io::Error) -> Self {
        let group = group.into();
        // What bpf(2) says of a directory that is anything else.
        if source.raw_os_error() == Some(Errno::EBADF as i32) {
            return Self::NotCgroup2 { group };
        }
        Self::Group {
            action,
            group,
            source,
        }
    }

    pub(super) fn full(group: &Path) -> Self {
        Self::Full {
            group: group.into(),
            most: MOST_GROUPS,
        }
    }

    /// Whether the group is not there any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Group { source, .. }
            if source.kind() == io::ErrorKind::NotFound
                || source.raw_os_error() == Some(Errno::ENODEV as i32))
    }
}
