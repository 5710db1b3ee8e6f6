//! The user of a job, with whose rights the agent reaches the job's files.

use std::{io, marker::PhantomData};

use nix::unistd::{Gid, Uid, geteuid, setfsgid, setfsuid};

use super::process_handle::ProcessStatus;

/// The kernel leaves the ids as they are.
const NO_ID: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobUser {
    pub uid: u32,
    gid: u32,
}

/// For as long as this lives, this thread reaches files with the rights of a user, and without the agent's capabilities for
/// files. The agent's supplementary groups stay.
#[derive(Debug)]
pub struct AsUser {
    /// None if the agent is that user.
    before: Option<(Uid, Gid)>,
    /// The rights are the thread's.
    _not_send: PhantomData<*const ()>,
}

impl JobUser {
    pub fn of(status: ProcessStatus) -> Self {
        Self { uid: status.uid, gid: status.gid }
    }

    /// Takes the user's rights, which needs CAP_SETUID and CAP_SETGID unless it is the agent's user.
    pub fn enter(self) -> io::Result<AsUser> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        if uid == geteuid() {
            return Ok(AsUser { before: None, _not_send: PhantomData });
        }
        let group = setfsgid(gid);
        let taken = AsUser { before: Some((setfsuid(uid), group)), _not_send: PhantomData };
        // These calls do not fail. They return the former id, so a second one tells whether the first one worked.
        if setfsuid(Uid::from_raw(NO_ID)) == uid && setfsgid(Gid::from_raw(NO_ID)) == gid {
            return Ok(taken);
        }
        let reason = format!("the agent may not act as user {} and group {}", self.uid, self.gid);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
    }
}

impl Drop for AsUser {
    fn drop(&mut self) {
        if let Some((uid, gid)) = self.before {
            setfsuid(uid);
            setfsgid(gid);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, PermissionsExt},
    };

    use super::*;

    #[test]
    fn files_are_the_users_and_the_agents_rights_come_back() {
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let secret = tempfile::NamedTempFile::new().unwrap();
        let made = directory.path().join("made");
        let user = JobUser { uid: 65534, gid: 65533 };
        {
            let _rights = user.enter().unwrap();
            fs::write(&made, "").unwrap();
            let error = fs::read(secret.path()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }
        let owner = fs::metadata(&made).unwrap();
        assert_eq!((owner.uid(), owner.gid()), (65534, 65533));
        fs::read(secret.path()).unwrap();
    }
}
