//! Files in a job's `/tmp` as the job sees it. Each path component is opened by itself, starting at
//! the job's root, so that no link of the job's leads elsewhere.

use std::{io, os::fd::OwnedFd};

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::{FileStat, Mode, SFlag, fstat},
};

use super::process_handle::ProcessHandle;

/// A directory at or below `/tmp` of a process. Its methods fail for a file that the JVM cannot
/// have made; [`is_gone`](crate::sensors::is_gone) tells the error of a missing one.
#[derive(Debug)]
pub struct JobTmp {
    pub directory: OwnedFd,
}

impl JobTmp {
    /// Opens `/tmp`, which must not be a link.
    pub fn open(process: &ProcessHandle) -> io::Result<Self> {
        let directory = process.open_root()?;
        Self { directory }.below("tmp")
    }

    pub fn below(&self, name: &str) -> io::Result<Self> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let directory = self.open_at(name, flags, "directory")?;
        Ok(Self { directory })
    }

    pub fn open_regular(&self, name: &str, uid: u32) -> io::Result<(OwnedFd, FileStat)> {
        // Without O_NONBLOCK, opening a fifo would block the agent.
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        self.open_owned(name, flags, (SFlag::S_IFREG, "regular file"), uid)
    }

    /// Opens a socket of the user as a handle to connect to.
    pub fn open_socket(&self, name: &str, uid: u32) -> io::Result<OwnedFd> {
        let kind = (SFlag::S_IFSOCK, "socket");
        Ok(self.open_owned(name, OFlag::O_PATH, kind, uid)?.0)
    }

    fn open_owned(
        &self,
        name: &str,
        flags: OFlag,
        (kind, expected): (SFlag, &str),
        uid: u32,
    ) -> io::Result<(OwnedFd, FileStat)> {
        let file = self.open_at(name, flags, expected)?;
        let stat = fstat(&file)?;
        if SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT != kind {
            return Err(other_kind(name, expected));
        }
        if stat.st_uid != uid {
            let found = stat.st_uid;
            let reason = format!("/tmp/{name} belongs to uid {found}, not to uid {uid}");
            return Err(io::Error::other(reason));
        }
        Ok((file, stat))
    }

    fn open_at(&self, name: &str, flags: OFlag, expected: &str) -> io::Result<OwnedFd> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let opened = openat(&self.directory, name, flags, Mode::empty());
        opened.map_err(|error| match error {
            Errno::ENOENT | Errno::ESRCH => error.into(),
            // A link, a file instead of a directory, or a socket opened for reading.
            Errno::ELOOP | Errno::ENOTDIR | Errno::ENXIO => other_kind(name, expected),
            _ => io::Error::other(format!("/tmp/{name}: {error}")),
        })
    }
}

fn other_kind(name: &str, expected: &str) -> io::Error {
    io::Error::other(format!("/tmp/{name} is a link, or is not a {expected}"))
}
