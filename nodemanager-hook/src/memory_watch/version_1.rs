//! cgroup v1: the kernel signals an eventfd when the usage passes a threshold in either direction,
//! and when the group is removed.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
    path::{Path, PathBuf},
};

use nix::sys::{
    epoll::EpollFlags,
    eventfd::{EfdFlags, EventFd},
};

use crate::{actuators::write_text, cgroups::Version, sensors::GroupFile};

pub const FLAGS: EpollFlags = EpollFlags::EPOLLIN;

/// The threshold of one group. Closing the eventfd removes it from the kernel.
#[derive(Debug)]
pub struct Threshold {
    pub group: PathBuf,
    usage: GroupFile,
    wake_at_bytes: u64,
    signal: EventFd,
}

impl Threshold {
    pub fn new(group: &Path, wake_at_bytes: u64) -> io::Result<Self> {
        let usage = GroupFile::open(group, "memory.usage_in_bytes", Version::One)?;
        let signal = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let (event, file) = (signal.as_fd().as_raw_fd(), usage.as_fd().as_raw_fd());
        let registration = format!("{event} {file} {wake_at_bytes}");
        write_text(&group.join("cgroup.event_control"), &registration).map_err(io::Error::other)?;
        let threshold = Self { group: group.into(), usage, wake_at_bytes, signal };
        // The kernel only signals a passing, and the usage may have passed before.
        if threshold.usage.number()? >= wake_at_bytes {
            threshold.signal.write(1)?;
        }
        Ok(threshold)
    }

    /// The usage if above the threshold. It may have fallen, or have passed an earlier threshold.
    pub fn passed(&self) -> io::Result<Option<u64>> {
        // Resets the signal, which may be reset already.
        let _ = self.signal.read();
        let usage_bytes = self.usage.number()?;
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
    fn the_threshold_is_written_by_the_writer_of_kernel_files() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path();
        fs::write(group.join("memory.usage_in_bytes"), "4096\n").unwrap();
        let control = group.join("cgroup.event_control");
        let error = Threshold::new(group, 8192).unwrap_err();
        let expected = format!(" 8192 to {}: No such file", control.display());
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(!control.exists(), "kernel files are never created");
        // The writer truncates a recorded file; another one would leave its end.
        fs::write(&control, "9".repeat(64)).unwrap();
        let threshold = Threshold::new(group, 8192).unwrap();
        let (event, usage) = (threshold.signal.as_fd(), threshold.usage.as_fd());
        let line = format!("{} {} 8192", event.as_raw_fd(), usage.as_raw_fd());
        assert_eq!(fs::read_to_string(&control).unwrap(), line);
    }
}
