//! cgroup v1: an eventfd that the kernel signals when the usage passes a threshold, upwards or
//! downwards, and when the group is removed.

use std::{
    fs::OpenOptions,
    io::Write,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
    path::{Path, PathBuf},
};

use nix::sys::{
    epoll::EpollFlags,
    eventfd::{EfdFlags, EventFd},
};

use super::{MemoryWatchError, number_file::NumberFile};

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
        let failed = |source| MemoryWatchError::file("register with", &control, source);
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let signal = EventFd::from_flags(flags).map_err(|errno| failed(errno.into()))?;
        let (event, file) = (signal.as_fd().as_raw_fd(), usage.as_fd().as_raw_fd());
        OpenOptions::new()
            .write(true)
            .open(&control)
            .and_then(|mut file_of_control| {
                let line = format!("{event} {file} {wake_at_bytes}");
                file_of_control.write_all(line.as_bytes())
            })
            .map_err(failed)?;
        let threshold = Self {
            group: group.into(),
            usage,
            wake_at_bytes,
            signal,
        };
        // The kernel tells of passing only, and the usage may have passed before.
        if threshold.usage.read()? >= wake_at_bytes {
            threshold
                .signal
                .write(1)
                .map_err(|errno| failed(errno.into()))?;
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
