//! The file that makes a JVM listen when it receives SIGQUIT.

use std::io;

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::{Mode, fstat},
    unistd::{Gid, Uid, UnlinkatFlags, fchown, unlinkat},
};

use super::{job_files::JobTmp, process_handle::ProcessStatus};

/// The file in the job's `/tmp`. Dropping this removes the file.
#[derive(Debug)]
pub struct Trigger<'a> {
    tmp: &'a JobTmp,
    name: String,
}

impl<'a> Trigger<'a> {
    pub fn new(tmp: &'a JobTmp, status: ProcessStatus) -> io::Result<Self> {
        let name = format!(".attach_pid{}", status.inner_pid);
        let flags =
            OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        let made = match openat(&tmp.directory, name.as_str(), flags, mode) {
            Ok(file) => Some(file),
            // Left by a killed agent, or just made by another tool.
            Err(Errno::EEXIST) => {
                tmp.open_regular(&name, status.uid).map_err(io::Error::other)?;
                None
            }
            Err(error) => return Err(io::Error::other(format!("/tmp/{name}: {error}"))),
        };
        let trigger = Self { tmp, name };
        // Java 8 accepts a file of its own user only, not one of root's.
        if let Some(file) = made
            && fstat(&file)?.st_uid != status.uid
        {
            let (uid, gid) = (Uid::from_raw(status.uid), Gid::from_raw(status.gid));
            fchown(&file, Some(uid), Some(gid))?;
        }
        Ok(trigger)
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        let name = self.name.as_str();
        match unlinkat(&self.tmp.directory, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => log::warn!("cannot remove {name} from a job's /tmp: {error}"),
        }
    }
}
