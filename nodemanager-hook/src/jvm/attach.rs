//! The attach protocol: one command and its answer over the socket of a JVM.
//!
//! The socket lies in the job's `/tmp`, so the job decides what is there. It must be a socket of the
//! JVM's user, not a link and not mounted there, and the JVM's own process must be at the other end.
//! The agent reaches it with the rights of that user.

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill},
        socket::{
            AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket,
            sockopt::PeerCredentials,
        },
    },
    unistd::Pid,
};

use super::{
    attach_error::{AttachError, MOST_ANSWER_BYTES},
    command::JvmCommand,
    host::JvmHost,
    job_files::JobDirectory,
    process_handle::{ProcessHandle, ProcessStatus},
    reply::{self, AttachReply},
    trigger::Trigger,
};
use crate::sensors::is_gone;

const RETRY: Duration = Duration::from_millis(5);

/// How long the agent waits for a JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the JVM listens, if it does not listen yet.
    pub listener: Duration,
    pub command: Duration,
}

/// A JVM to send commands to.
#[derive(Debug, Clone)]
pub struct Attach {
    pub host: JvmHost,
    pub process: Arc<ProcessHandle>,
    pub timeouts: Timeouts,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { listener: Duration::from_secs(2), command: Duration::from_secs(1) }
    }
}

impl Attach {
    /// Sends a command and returns the reply of code 0.
    pub fn send(&self, command: JvmCommand) -> Result<AttachReply, AttachError> {
        let pid = self.process.pid();
        let stream = self.connect()?;
        let answer = self.exchange(stream, &command.frame())?;
        let reply = reply::parse(&answer).ok_or(AttachError::Malformed { pid, command })?;
        if reply.code != 0 {
            return Err(AttachError::Refused { pid, command, code: reply.code, text: reply.text });
        }
        Ok(reply)
    }

    /// Checks that the JVM is there and can answer now.
    fn check(&self) -> Result<ProcessStatus, AttachError> {
        let pid = self.process.pid();
        let read = |source| self.system("read the status of", source);
        let status = self.process.status().map_err(read)?;
        let cgroup = self.process.cgroup().map_err(read)?;
        if !status.can_answer() {
            return Err(AttachError::Stopped { pid, state: status.state });
        }
        if self.host.has_frozen(&cgroup) {
            return Err(AttachError::Frozen { pid });
        }
        Ok(status)
    }

    fn system(&self, action: &'static str, source: impl Into<io::Error>) -> AttachError {
        let (pid, source) = (self.process.pid(), source.into());
        if is_gone(&source) {
            return AttachError::Gone { pid };
        }
        AttachError::System { action, pid, source }
    }

    fn timed_out(&self, what: &'static str, begun: Instant) -> AttachError {
        let waited_ms = begun.elapsed().as_millis();
        AttachError::TimedOut { pid: self.process.pid(), what, waited_ms }
    }

    /// Connects; first makes the JVM listen if it does not.
    fn connect(&self) -> Result<UnixStream, AttachError> {
        let status = self.check()?;
        let failed = |source| self.system("open the files of", source);
        let tmp = JobDirectory::tmp(&self.process, status).map_err(failed)?;
        let name = format!(".java_pid{}", status.inner_pid);
        let begun = Instant::now();
        let mut trigger = None;
        loop {
            let mut listens = false;
            match tmp.own_socket(&name) {
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(failed(error)),
                Ok(socket) => match self.try_connect(&tmp, &socket, status.uid) {
                    Err(AttachError::System { action, pid, source }) => match source.kind() {
                        // Left by an earlier process with the same pid.
                        io::ErrorKind::ConnectionRefused => {}
                        // The queue of connections is full.
                        io::ErrorKind::WouldBlock => listens = true,
                        _ => return Err(AttachError::System { action, pid, source }),
                    },
                    other => return other,
                },
            }
            if begun.elapsed() >= self.timeouts.listener {
                return Err(self.timed_out("listen", begun));
            }
            let status = self.check()?;
            if !listens && trigger.is_none() {
                trigger = Some(self.request_listener(&tmp, status)?);
            }
            thread::sleep(RETRY);
        }
    }

    /// Asks the JVM to listen, which takes it some milliseconds. SIGQUIT ends a process that does
    /// not catch it, so the signal mask and the process are checked again just before.
    fn request_listener<'a>(
        &self,
        tmp: &'a JobDirectory,
        status: ProcessStatus,
    ) -> Result<Trigger<'a>, AttachError> {
        let pid = self.process.pid();
        if !status.catches_quit {
            return Err(AttachError::NoHandler { pid });
        }
        let trigger =
            Trigger::new(tmp, status).map_err(|source| self.system("make a file for", source))?;
        if !self.check()?.catches_quit {
            return Err(AttachError::NoHandler { pid });
        }
        let target = i32::try_from(pid).map_err(|_| AttachError::Gone { pid })?;
        kill(Pid::from_raw(target), Signal::SIGQUIT)
            .map_err(|source| self.system("send SIGQUIT to", source))?;
        Ok(trigger)
    }

    /// Connects without waiting, by the open handle instead of the name.
    fn try_connect(
        &self,
        tmp: &JobDirectory,
        socket_file: &OwnedFd,
        uid: u32,
    ) -> Result<UnixStream, AttachError> {
        let pid = self.process.pid();
        let failed = |source: Errno| self.system("connect to", source);
        let path = format!("/proc/self/fd/{}", socket_file.as_raw_fd());
        let address = UnixAddr::new(path.as_str()).map_err(failed)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let ours = socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(failed)?;
        {
            let _rights = tmp.act_as_user().map_err(|source| self.system("connect to", source))?;
            connect(ours.as_raw_fd(), &address).map_err(failed)?;
        }
        let peer = getsockopt(&ours, PeerCredentials).map_err(failed)?;
        if u32::try_from(peer.pid()) != Ok(pid) || peer.uid() != uid {
            return Err(AttachError::OtherPeer { pid, peer: peer.pid(), uid: peer.uid() });
        }
        let stream = UnixStream::from(ours);
        stream.set_nonblocking(false).map_err(|source| self.system("connect to", source))?;
        Ok(stream)
    }

    /// Writes a frame and reads until the other end closes.
    fn exchange(&self, mut stream: UnixStream, frame: &[u8]) -> Result<Vec<u8>, AttachError> {
        let (begun, timeout) = (Instant::now(), self.timeouts.command);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.timed_out("answer", begun),
            _ => self.system("talk to", source),
        };
        stream.set_write_timeout(Some(timeout)).map_err(failed)?;
        stream.write_all(frame).map_err(failed)?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        loop {
            // Each read gets the remaining time, so that dripping bytes do not prolong it.
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(self.timed_out("answer", begun));
            }
            stream.set_read_timeout(Some(left)).map_err(failed)?;
            match stream.read(&mut part) {
                Ok(0) => return Ok(answer),
                Ok(count) => answer.extend(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
            if answer.len() > MOST_ANSWER_BYTES {
                return Err(AttachError::TooLong { pid: self.process.pid() });
            }
        }
    }
}

#[cfg(test)]
mod tests;
