//! Making a JVM listen: it does so when a file of its own user says why it was sent SIGQUIT.
//!
//! To a process without a handler that signal is the end, so it is sent only to one that catches
//! it, that runs, and whose start was compared just before.

use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::{
        signal::{Signal, kill},
        stat::{Mode, fstat},
    },
    unistd::{Gid, Pid, Uid, UnlinkatFlags, fchown, unlinkat},
};

use super::{
    attach::{Attach, AttachError},
    job_files::{JobFileError, JobTmp},
    process::Status,
};

/// The file that tells the JVM; it is gone when this is dropped.
#[derive(Debug)]
pub struct Trigger<'a> {
    tmp: &'a JobTmp,
    name: String,
}

/// Asks the JVM to listen; it takes some milliseconds until it does.
///
/// # Errors
/// A process that must not be sent the signal, or a file that cannot be made.
pub fn start<'a>(
    attach: Attach<'_>,
    tmp: &'a JobTmp,
    status: Status,
) -> Result<Trigger<'a>, AttachError> {
    let pid = attach.process.pid();
    if !status.catches_quit {
        return Err(AttachError::NoHandler { pid });
    }
    let trigger = Trigger::new(tmp, status)?;
    let now = attach.check()?;
    if !now.catches_quit {
        return Err(AttachError::NoHandler { pid });
    }
    let target = i32::try_from(pid).map_err(|_| AttachError::Gone { pid })?;
    kill(Pid::from_raw(target), Signal::SIGQUIT)
        .map_err(|source| attach.system("send SIGQUIT to", source))?;
    Ok(trigger)
}

impl<'a> Trigger<'a> {
    fn new(tmp: &'a JobTmp, status: Status) -> Result<Self, JobFileError> {
        let name = format!(".attach_pid{}", status.inner_pid);
        let flags =
            OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        match openat(&tmp.directory, name.as_str(), flags, mode) {
            Ok(file) => {
                let made = Self { tmp, name };
                let owner = fstat(&file).map(|stat| stat.st_uid);
                let system = |source| tmp.system(&made.name, source);
                // Java 8 heeds a file of its own user only, and no file of root's.
                if owner.map_err(system)? != status.uid {
                    let (uid, gid) = (Uid::from_raw(status.uid), Gid::from_raw(status.gid));
                    fchown(&file, Some(uid), Some(gid)).map_err(system)?;
                }
                Ok(made)
            }
            // Left by an agent that was killed, or made by another tool at this moment.
            Err(Errno::EEXIST) => match tmp.open_regular(&name, status.uid)? {
                Some(_) => Ok(Self { tmp, name }),
                None => Err(tmp.system(&name, Errno::EEXIST)),
            },
            Err(source) => Err(tmp.system(&name, source)),
        }
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
