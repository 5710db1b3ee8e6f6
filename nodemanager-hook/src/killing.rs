//! Kills processes by handles, which never name a later process with the same pid, and tells how many have ended.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal},
};

use crate::sensors::{ProcFs, Process, ProcessKey};

/// The agent needs descriptors for other things too.
const MOST_HANDLES: usize = 1024;

#[derive(Debug, Default)]
pub struct Killing {
    processes: BTreeMap<ProcessKey, Target>,
}

#[derive(Debug)]
struct Target {
    /// None before Linux 5.3, and if there are too many.
    handle: Option<OwnedFd>,
    is_signalled: bool,
}

impl Killing {
    /// Adds a process, unless it has ended.
    pub fn add(&mut self, key: ProcessKey, proc: &ProcFs) {
        if self.processes.contains_key(&key) {
            return;
        }
        let pid = pid_of(key).filter(|_| self.processes.len() < MOST_HANDLES);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let target = Target { handle, is_signalled: false };
        // The handle is that of the process that had the pid. It has it still if it is this one now.
        if has_pid(key, proc).is_some() && !target.has_ended(key, proc) {
            self.processes.insert(key, target);
        }
    }

    /// Sends SIGKILL to the processes that were added since the last call.
    pub fn signal(&mut self) {
        for (key, target) in self.processes.iter_mut().filter(|(_, target)| !target.is_signalled) {
            target.is_signalled = true;
            let sent = match &target.handle {
                Some(handle) => pidfd_send_signal(handle, Signal::KILL),
                None => {
                    let pid = pid_of(*key).ok_or(Errno::SRCH);
                    pid.and_then(|pid| kill_process(pid, Signal::KILL))
                }
            };
            if let Err(error) = sent {
                log::debug!("pid {} is not killed: {error}", key.pid);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.processes.len()
    }

    /// How many of the processes have ended.
    pub fn ended(&self, proc: &ProcFs) -> usize {
        let all = self.processes.iter();
        all.filter(|(key, target)| target.has_ended(**key, proc)).count()
    }
}

impl Target {
    /// Without a handle, one whose first thread has ended counts as ended, even if others run.
    fn has_ended(&self, key: ProcessKey, proc: &ProcFs) -> bool {
        let Some(handle) = &self.handle else {
            return has_pid(key, proc).is_none_or(|process| process.has_ended);
        };
        let mut handles = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
        poll(&mut handles, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

fn pid_of(key: ProcessKey) -> Option<Pid> {
    i32::try_from(key.pid).ok().and_then(Pid::from_raw)
}

/// The process, while no later one has its pid.
fn has_pid(key: ProcessKey, proc: &ProcFs) -> Option<Process> {
    let process = proc.process(key.pid).ok().flatten();
    process.filter(|process| process.key() == key)
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        process::{Child, Command},
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    fn sleeping() -> (Child, ProcessKey) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcFs::new(Path::new("/proc")).process(child.id()).unwrap().unwrap();
        (child, process.key())
    }

    #[test]
    fn what_was_killed_has_ended_and_a_later_process_is_not_killed() {
        let proc = ProcFs::new(Path::new("/proc"));
        let ((mut one, key), (mut other, of_other)) = (sleeping(), sleeping());
        let mut killing = Killing::default();
        killing.add(key, &proc);
        killing.add(key, &proc);
        // As if the pid were reused.
        let former = ProcessKey { start_ticks: of_other.start_ticks + 1, ..of_other };
        killing.add(former, &proc);
        assert_eq!((killing.count(), killing.ended(&proc)), (1, 0));
        killing.signal();
        let deadline = Instant::now() + Duration::from_secs(20);
        while killing.ended(&proc) == 0 {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(1));
        }
        assert!(other.try_wait().unwrap().is_none());
        one.wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
