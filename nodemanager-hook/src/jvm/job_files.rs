//! Files in a job's `/tmp` as the job sees it. Each path component is opened by itself, starting at
//! the job's root, so that no link of the job's leads elsewhere.

use std::os::fd::OwnedFd;

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::{FileStat, Mode, SFlag, fstat},
};

use super::process::Process;

/// A file that the JVM cannot have made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobFileError {
    #[error("/tmp/{name} of pid {pid} is a link, or is not a {expected}")]
    Kind {
        pid: u32,
        name: String,
        expected: &'static str,
    },
    #[error("/tmp/{name} of pid {pid} belongs to uid {found}, not to uid {expected}")]
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

/// A directory at or below `/tmp` of a process.
#[derive(Debug)]
pub struct JobTmp {
    pub directory: OwnedFd,
    pid: u32,
}

impl JobTmp {
    /// Opens `/tmp`; `None` if the process is gone or has no such directory. A `/tmp` that is a
    /// link is an error.
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
        Self { directory, pid }.below("tmp")
    }

    pub fn below(&self, name: &str) -> Result<Option<Self>, JobFileError> {
        let pid = self.pid;
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let opened = self.open_at(name, flags, "directory")?;
        Ok(opened.map(|directory| Self { directory, pid }))
    }

    pub fn open_regular(
        &self,
        name: &str,
        uid: u32,
    ) -> Result<Option<(OwnedFd, FileStat)>, JobFileError> {
        // Without O_NONBLOCK, opening a fifo would block the agent.
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        self.open_owned(name, flags, (SFlag::S_IFREG, "regular file"), uid)
    }

    /// Opens a socket of the user as a handle to connect to; `None` if it does not exist.
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
            // A link, a file instead of a directory, or a socket opened for reading.
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

    pub fn system(&self, name: &str, source: Errno) -> JobFileError {
        JobFileError::System {
            pid: self.pid,
            name: name.into(),
            source,
        }
    }
}
