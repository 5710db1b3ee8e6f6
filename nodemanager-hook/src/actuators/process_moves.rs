//! Moves processes between groups without moving a process that got a reused pid.

use std::{io, path::Path};

use nix::errno::Errno;

use super::{
    file_access::{KernelFileError, write_text},
    group_state::read_pids,
};
use crate::{
    cgroups::Hierarchy,
    sensors::{ProcFs, ProcessKey},
};

/// Passes over a group before its last processes are left to the next round. Each pass finds the
/// processes forked during the pass before.
const MAX_PASSES: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    Yes,
    /// The process had ended.
    Gone,
    /// The process had ended and its pid was reused. The new process is in its own group again.
    PidReused,
}

/// Moves a process with all its threads.
///
/// The kernel moves whichever process has the pid at that moment, so the start time is compared
/// afterwards.
pub fn move_process(
    key: ProcessKey,
    hierarchy: &Hierarchy,
    to: &Path,
    proc: &ProcFs,
) -> Result<Moved, KernelFileError> {
    let unreadable = |error| KernelFileError::new("read a process in", &proc.path(""), error);
    let Some(cgroup) = proc.cgroup(key.pid).map_err(unreadable)? else {
        return Ok(Moved::Gone);
    };
    let Some(before) = hierarchy.directory_of(&cgroup) else {
        let outside = io::Error::other("its group is outside of the mounted hierarchy");
        let action = format!("move process {} to", key.pid);
        return Err(KernelFileError::new(action, to, outside));
    };
    if !write_pid(key.pid, to)? {
        return Ok(Moved::Gone);
    }
    match proc.process(key.pid).map_err(unreadable)? {
        Some(process) if process.key() != key => {
            write_pid(key.pid, &before)?;
            Ok(Moved::PidReused)
        }
        Some(_) => Ok(Moved::Yes),
        None => Ok(Moved::Gone),
    }
}

/// Returns whether a process has the pid.
fn write_pid(pid: u32, group: &Path) -> Result<bool, KernelFileError> {
    match write_text(&group.join("cgroup.procs"), &pid.to_string()) {
        Ok(()) => Ok(true),
        Err(error) if error.errno() == Errno::ESRCH => Ok(false),
        Err(error) => Err(error),
    }
}

/// A group whose processes came from a group that is gone. They stay until they end: in the root of the hierarchy
/// nothing would hold them.
pub fn no_former_group(group: &Path) -> KernelFileError {
    let why = io::Error::other("their former group is gone, and no group above it is left");
    KernelFileError::new("move back the processes of", group, why)
}

/// Moves all processes of a group to their former group, if that is left.
pub fn empty_group(
    group: &Path,
    hierarchy: &Hierarchy,
    to: Option<&Path>,
    proc: &ProcFs,
) -> Result<(), KernelFileError> {
    for _ in 0..MAX_PASSES {
        let pids = match read_pids(group) {
            Err(error) if error.is_gone() => return Ok(()),
            pids => pids?,
        };
        if pids.is_empty() {
            break;
        }
        let to = to.ok_or_else(|| no_former_group(group))?;
        for pid in pids {
            let process = proc
                .process(pid)
                .map_err(|error| KernelFileError::new("read a process of", group, error))?;
            if let Some(process) = process {
                move_process(process.key(), hierarchy, to, proc)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::*;
    use crate::cgroups::{Controller, Hierarchies};

    /// A recorded `/proc` with process 10, and a hierarchy of files beside it.
    struct Recorded {
        directory: tempfile::TempDir,
        hierarchy: Hierarchy,
    }

    impl Recorded {
        fn new(start_ticks: u64) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let process = directory.path().join("10");
            let stat = format!("10 (sh) S 1 10 10 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 {start_ticks} 0");
            fs::create_dir(&process).unwrap();
            fs::write(process.join("stat"), stat).unwrap();
            fs::write(process.join("cgroup"), "1:cpu:/before\n").unwrap();
            for group in ["before", "after"] {
                let group = directory.path().join("cpu").join(group);
                fs::create_dir_all(&group).unwrap();
                fs::write(group.join("cgroup.procs"), "").unwrap();
            }
            let mount_point = directory.path().join("cpu");
            let mountinfo =
                format!("1 1 0:1 / {} rw - cgroup cgroup rw,cpu\n", mount_point.display());
            let found = Hierarchies::discover(&mountinfo, |_| String::new());
            let hierarchy = found.serving(Controller::Cpu).unwrap().clone();
            Self { directory, hierarchy }
        }

        fn group(&self, name: &str) -> PathBuf {
            self.hierarchy.mount_point().join(name)
        }

        fn written_to(&self, group: &str) -> String {
            fs::read_to_string(self.group(group).join("cgroup.procs")).unwrap()
        }

        fn move_process_of(&self, start_ticks: u64) -> Moved {
            let key = ProcessKey { pid: 10, start_ticks };
            let proc = ProcFs::new(self.directory.path());
            move_process(key, &self.hierarchy, &self.group("after"), &proc).unwrap()
        }
    }

    #[test]
    fn a_process_is_moved() {
        let recorded = Recorded::new(5);
        assert_eq!(recorded.move_process_of(5), Moved::Yes);
        assert_eq!(recorded.written_to("after"), "10");
        assert_eq!(recorded.written_to("before"), "");
    }

    #[test]
    fn a_process_with_a_reused_pid_goes_back_to_its_group() {
        let recorded = Recorded::new(6);
        assert_eq!(recorded.move_process_of(5), Moved::PidReused);
        assert_eq!(recorded.written_to("before"), "10");
    }

    #[test]
    fn a_process_that_has_ended_is_not_moved() {
        let recorded = Recorded::new(5);
        fs::remove_dir_all(recorded.directory.path().join("10")).unwrap();
        assert_eq!(recorded.move_process_of(5), Moved::Gone);
        assert_eq!(recorded.written_to("after"), "");
    }

    #[test]
    fn a_process_outside_of_the_mounted_hierarchy_is_not_moved() {
        let recorded = Recorded::new(5);
        let cgroup = recorded.directory.path().join("10/cgroup");
        fs::write(cgroup, "1:cpu:/../outside\n").unwrap();
        let proc = ProcFs::new(recorded.directory.path());
        let key = ProcessKey { pid: 10, start_ticks: 5 };
        let to = recorded.group("after");
        let error = move_process(key, &recorded.hierarchy, &to, &proc).unwrap_err();
        assert!(error.to_string().starts_with("cannot move process 10 to /"));
        assert_eq!(recorded.written_to("after"), "");
    }
}
