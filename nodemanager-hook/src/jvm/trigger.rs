//! The file that makes a JVM listen when it receives SIGQUIT.

use std::io;

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::Mode,
    unistd::{UnlinkatFlags, unlinkat},
};

use super::{job_files::JobDirectory, process_handle::ProcessStatus};

/// The file in the job's `/tmp`. Dropping this removes the file.
#[derive(Debug)]
pub struct Trigger<'a> {
    tmp: &'a JobDirectory,
    name: String,
}

impl<'a> Trigger<'a> {
    /// Makes the file as the job's user: Java 8 accepts no other's.
    pub fn new(tmp: &'a JobDirectory, status: ProcessStatus) -> io::Result<Self> {
        let name = format!(".attach_pid{}", status.inner_pid);
        let flags =
            OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let made = {
            let _rights = tmp.act_as_user()?;
            openat(&tmp.directory, name.as_str(), flags, mode)
        };
        match made {
            Ok(_) => {}
            // Left by a killed agent, or just made by another tool.
            Err(Errno::EEXIST) => drop(tmp.own_regular(&name).map_err(io::Error::other)?),
            Err(error) => return Err(io::Error::other(format!("/tmp/{name}: {error}"))),
        }
        Ok(Self { tmp, name })
    }

    fn remove(&self) -> io::Result<()> {
        let _rights = self.tmp.act_as_user()?;
        match unlinkat(&self.tmp.directory, self.name.as_str(), UnlinkatFlags::NoRemoveDir) {
            Err(Errno::ENOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            log::warn!("cannot remove {} from a job's /tmp: {error}", self.name);
        }
    }
}
