//! cgroup v1: an eventfd that the kernel signals when the usage passes a threshold, upwards or
//! downwards, and when the group is removed.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd},
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    sys::{
        epoll::EpollFlags,
        eventfd::{EfdFlags, EventFd},
    },
};

use super::{MemoryWatchError, number_file::NumberFile};
use crate::actuators::write_text;

pub const FLAGS: EpollFlags = EpollFlags::EPOLLIN;

/// One group's threshold. The kernel takes it back when the eventfd is closed.
#[derive(Debug)]
pub struct Threshold {
    group: PathBuf,
    usage: NumberFile,
    wake_at_bytes: u64,
    signal: EventFd,
}

impl Threshold {
    pub fn new(group: &Path, wake_at_bytes: u64) -> Result<Self, MemoryWatchError> {
        let usage = NumberFile::open(group.join("memory.usage_in_bytes"))?;
        let control = group.join("cgroup.event_control");
        let failed = |errno: Errno| MemoryWatchError::file("register with", &control, errno);
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let signal = EventFd::from_flags(flags).map_err(failed)?;
        let (event, file) = (signal.as_fd().as_raw_fd(), usage.as_fd().as_raw_fd());
        write_text(&control, &format!("{event} {file} {wake_at_bytes}"))
            .map_err(|error| failed(error.errno()))?;
        let threshold = Self {
            group: group.into(),
            usage,
            wake_at_bytes,
            signal,
        };
        // The kernel tells of passing only, and the usage may have passed before.
        if threshold.usage.read()? >= wake_at_bytes {
            threshold.signal.write(1).map_err(failed)?;
        }
        Ok(threshold)
    }

    /// Another threshold for the same group.
    pub fn with(&self, wake_at_bytes: u64) -> Result<Self, MemoryWatchError> {
        Self::new(&self.group, wake_at_bytes)
    }

    /// The usage, when it is above the threshold: it may have fallen, or was above an earlier one.
    pub fn passed(&self) -> Result<Option<u64>, MemoryWatchError> {
        // It is there to be emptied only, and may be empty already.
        let _ = self.signal.read();
        let usage_bytes = self.usage.read()?;
        Ok((usage_bytes >= self.wake_at_bytes).then_some(usage_bytes))
    }
}

impl AsFd for Threshold {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_registered_by_the_one_writer_of_kernel_files() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path();
        fs::write(group.join("memory.usage_in_bytes"), "4096\n").unwrap();
        let control = group.join("cgroup.event_control");
        let error = Threshold::new(group, 8192).unwrap_err();
        let expected = format!("cannot register with {}: ENOENT", control.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(!control.exists(), "kernel files are never made");
        // Of a recorded file the writer leaves nothing; another one would leave the end.
        fs::write(&control, "9".repeat(64)).unwrap();
        let threshold = Threshold::new(group, 8192).unwrap();
        let (event, usage) = (threshold.signal.as_fd(), threshold.usage.as_fd());
        let line = format!("{} {} 8192", event.as_raw_fd(), usage.as_raw_fd());
        assert_eq!(fs::read_to_string(&control).unwrap(), line);
    }
}
