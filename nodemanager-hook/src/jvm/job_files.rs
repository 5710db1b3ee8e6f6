//! Files in a job's `/tmp`, as the job sees it: opened one component at a time from its root, so
//! that no link of the job's leads anywhere else.

use std::os::fd::OwnedFd;

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::{FileStat, Mode, SFlag, fstat},
};

use super::process::Process;

/// A file that is not what the job's own would be.
#[allow(missing_docs)] // the messages say it
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobFileError {
    #[error("/tmp/{name} of pid {pid} is a link, or no {expected}")]
    Kind {
        pid: u32,
        name: String,
        expected: &'static str,
    },
    #[error("/tmp/{name} of pid {pid} belongs to uid {found} and not to uid {expected}")]
    Owner {
        pid: u32,
        name: String,
        found: u32,
        expected: u32,
    },
    #[error("/tmp/{name} of pid {pid}: {source}")]
    System {
        pid: u32,
        name: String,
        source: Errno,
    },
}

/// The directory `/tmp` of a process.
#[derive(Debug)]
pub struct JobTmp {
    pub directory: OwnedFd,
    pid: u32,
}

impl JobTmp {
    /// Nothing when the process is gone or sees no such directory.
    ///
    /// # Errors
    /// Those of opening it; a `/tmp` that is a link is one.
    pub fn open(process: &Process) -> Result<Option<Self>, JobFileError> {
        let pid = process.pid();
        let root = process.open_root().map_err(|error| JobFileError::System {
            pid,
            name: String::new(),
            source: Errno::from_raw(error.raw_os_error().unwrap_or_default()),
        })?;
        let Some(directory) = root else {
            return Ok(None);
        };
        let outer = Self { directory, pid };
        let tmp = outer.open_directory("tmp")?;
        Ok(tmp.map(|directory| Self { directory, pid }))
    }

    /// A directory in it; nothing when it is not there.
    ///
    /// # Errors
    /// Those of opening, or something else with that name.
    pub fn below(&self, name: &str) -> Result<Option<Self>, JobFileError> {
        let pid = self.pid;
        let directory = self.open_directory(name)?;
        Ok(directory.map(|directory| Self { directory, pid }))
    }

    fn open_directory(&self, name: &str) -> Result<Option<OwnedFd>, JobFileError> {
        self.open_at(name, OFlag::O_PATH | OFlag::O_DIRECTORY, "directory")
    }

    /// A regular file of the user; nothing when it is not there.
    ///
    /// # Errors
    /// Those of opening, something else with that name, another owner.
    pub fn open_regular(
        &self,
        name: &str,
        uid: u32,
    ) -> Result<Option<(OwnedFd, FileStat)>, JobFileError> {
        // A fifo in its place must not hold the agent.
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        self.open_owned(name, flags, (SFlag::S_IFREG, "regular file"), uid)
    }

    /// A socket of the user, as a handle to connect to; nothing when it is not there.
    ///
    /// # Errors
    /// Those of opening, something else with that name, another owner.
    pub fn open_socket(&self, name: &str, uid: u32) -> Result<Option<OwnedFd>, JobFileError> {
        let opened = self.open_owned(name, OFlag::O_PATH, (SFlag::S_IFSOCK, "socket"), uid)?;
        Ok(opened.map(|(socket, _)| socket))
    }

    fn open_owned(
        &self,
        name: &str,
        flags: OFlag,
        (kind, expected): (SFlag, &'static str),
        uid: u32,
    ) -> Result<Option<(OwnedFd, FileStat)>, JobFileError> {
        let Some(file) = self.open_at(name, flags, expected)? else {
            return Ok(None);
        };
        let stat = fstat(&file).map_err(|source| self.system(name, source))?;
        if SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT != kind {
            return Err(self.kind(name, expected));
        }
        if stat.st_uid != uid {
            return Err(JobFileError::Owner {
                pid: self.pid,
                name: name.into(),
                found: stat.st_uid,
                expected: uid,
            });
        }
        Ok(Some((file, stat)))
    }

    fn open_at(
        &self,
        name: &str,
        flags: OFlag,
        expected: &'static str,
    ) -> Result<Option<OwnedFd>, JobFileError> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
            // A link, a file where a directory was expected, a socket that was to be read.
            Err(Errno::ELOOP | Errno::ENOTDIR | Errno::ENXIO) => Err(self.kind(name, expected)),
            Err(source) => Err(self.system(name, source)),
        }
    }

    fn kind(&self, name: &str, expected: &'static str) -> JobFileError {
        JobFileError::Kind {
            pid: self.pid,
            name: name.into(),
            expected,
        }
    }

    /// The error of a system call on a file in it.
    pub fn system(&self, name: &str, source: Errno) -> JobFileError {
        JobFileError::System {
            pid: self.pid,
            name: name.into(),
            source,
        }
    }
}
