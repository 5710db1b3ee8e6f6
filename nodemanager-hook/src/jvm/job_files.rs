//! Files in a job's `/tmp` or working directory as the job sees them, reached with the job's rights. The job decides what is
//! there: each component is opened by itself as a place only, starting at a directory that the kernel names, and used once it
//! turns out to be what is expected. So no link and no mount leads elsewhere, and no device is opened.

use std::{
    fs, io,
    os::fd::{AsRawFd, OwnedFd},
};

use nix::{
    errno::Errno,
    fcntl::{OFlag, open, openat},
    sys::stat::{FileStat, Mode, SFlag, fstat},
};

use super::{
    job_user::{AsUser, JobUser},
    process_handle::{ProcessHandle, ProcessStatus},
};

/// A directory of a process. Its methods fail for a file that the job's user cannot have made;
/// [`is_gone`](crate::sensors::is_gone) tells the error of a missing one.
#[derive(Debug)]
pub struct JobDirectory {
    pub directory: OwnedFd,
    mount: u64,
    user: JobUser,
    /// Its place, for errors.
    path: &'static str,
}

const TMP: &str = "/tmp";
const WORKING: &str = "its working directory";

impl JobDirectory {
    /// Opens `/tmp`, which must be the job's own directory or one that everybody may use. It may be a mount.
    pub fn tmp(process: &ProcessHandle, status: ProcessStatus) -> io::Result<Self> {
        let user = JobUser::of(status);
        let directory = open_place(&process.open_root()?, "tmp", user, "")?;
        let stat = fstat(&directory)?;
        let mode = stat.st_mode & 0o7777;
        let is_own = stat.st_uid == user.uid && mode & 0o022 == 0;
        if !is(SFlag::S_IFDIR, &stat) || !(is_own || mode == 0o1777) {
            let owner = stat.st_uid;
            let reason = format!(
                "/tmp of uid {owner} and mode {mode:o} is neither the job's alone nor everybody's (1777)"
            );
            return Err(io::Error::other(reason));
        }
        Ok(Self { mount: mount_of(&directory)?, directory, user, path: TMP })
    }

    /// Opens the directory that a process works in.
    pub fn working(process: &ProcessHandle, status: ProcessStatus) -> io::Result<Self> {
        let directory = process.open_working()?;
        let user = JobUser::of(status);
        Ok(Self { mount: mount_of(&directory)?, directory, user, path: WORKING })
    }

    /// Opens a directory of the job's.
    pub fn below(&self, name: &str) -> io::Result<Self> {
        let (directory, _) = self.own(name, (SFlag::S_IFDIR, "directory"))?;
        Ok(Self { directory, ..*self })
    }

    pub fn open_regular(&self, name: &str) -> io::Result<(OwnedFd, FileStat)> {
        let (place, stat) = self.own_regular(name)?;
        let _rights = self.act_as_user()?;
        // The same file, whatever has its name now.
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        Ok((open(path.as_str(), flags, Mode::empty())?, stat))
    }

    /// A regular file of the job's, as a place only.
    pub fn own_regular(&self, name: &str) -> io::Result<(OwnedFd, FileStat)> {
        self.own(name, (SFlag::S_IFREG, "regular file"))
    }

    /// A socket of the job's, as a place to connect to.
    pub fn own_socket(&self, name: &str) -> io::Result<OwnedFd> {
        Ok(self.own(name, (SFlag::S_IFSOCK, "socket"))?.0)
    }

    /// For a change of this directory.
    pub fn act_as_user(&self) -> io::Result<AsUser> {
        self.user.enter()
    }

    fn own(&self, name: &str, (kind, expected): (SFlag, &str)) -> io::Result<(OwnedFd, FileStat)> {
        let (user, path) = (self.user, self.path);
        let file = open_place(&self.directory, name, user, path)?;
        let stat = fstat(&file)?;
        if !is(kind, &stat) {
            return Err(io::Error::other(format!(
                "{path}/{name} is a link, or is not a {expected}"
            )));
        }
        let (found, uid) = (stat.st_uid, user.uid);
        if found != uid {
            let reason = format!("{path}/{name} belongs to uid {found}, not to uid {uid}");
            return Err(io::Error::other(reason));
        }
        if mount_of(&file)? != self.mount {
            return Err(io::Error::other(format!("{path}/{name} is mounted there")));
        }
        Ok((file, stat))
    }
}

/// Opens a file as a place only, whatever it is; a link as itself.
fn open_place(directory: &OwnedFd, name: &str, user: JobUser, path: &str) -> io::Result<OwnedFd> {
    let _rights = user.enter()?;
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(directory, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::ENOENT | Errno::ESRCH => error.into(),
        _ => io::Error::other(format!("{path}/{name}: {error}")),
    })
}

fn is(kind: SFlag, stat: &FileStat) -> bool {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == kind
}

/// The number of the mount that an open file is in.
fn mount_of(file: &OwnedFd) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel does not tell the mounts of open files"))
}

#[cfg(test)]
mod tests;
