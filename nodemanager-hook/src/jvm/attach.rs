//! The attach protocol: one command and its answer over the socket of a JVM.
//!
//! The socket lies in the job's `/tmp`, so the job decides what is there: it has to be the JVM's
//! user's, no link, and the JVM itself has to be at its other end.

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::socket::{
        AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket,
        sockopt::PeerCredentials,
    },
};

use super::{
    command::Command,
    host::Host,
    job_files::{JobFileError, JobTmp},
    listener,
    process::{Process, Status},
    reply::{self, Reply},
};

/// An answer to any of the agent's commands is some lines.
const MOST_ANSWER_BYTES: usize = 64 * 1024;
const RETRY: Duration = Duration::from_millis(5);

/// How long a JVM is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until it listens, where it did not yet.
    pub listener: Duration,
    /// For the answer to a command.
    pub command: Duration,
    /// For the answer when the command is a whole collection.
    pub collection: Duration,
}

/// Why a JVM did not do what it was asked for.
#[allow(missing_docs)] // the messages say it
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("pid {pid} is gone")]
    Gone { pid: u32 },
    #[error("pid {pid} is in state {state}: it would not answer")]
    Stopped { pid: u32, state: char },
    #[error("pid {pid} is frozen")]
    Frozen { pid: u32 },
    #[error("pid {pid} does not catch SIGQUIT: that signal would end it")]
    NoHandler { pid: u32 },
    #[error("pid {pid} was started with -XX:+DisableAttachMechanism")]
    Disabled { pid: u32 },
    #[error("pid {pid} did not {what} within {waited_ms} ms")]
    TimedOut {
        pid: u32,
        what: &'static str,
        waited_ms: u128,
    },
    #[error("pid {peer} of uid {uid} answers on the socket of pid {pid}")]
    OtherPeer { pid: u32, peer: i32, uid: u32 },
    #[error("pid {pid} answered with more than {MOST_ANSWER_BYTES} bytes")]
    TooLong { pid: u32 },
    #[error("pid {pid} did not answer `{command}` as a JVM would")]
    Malformed { pid: u32, command: Command },
    #[error("pid {pid} refused `{command}`: {code} {text}")]
    Refused {
        pid: u32,
        command: Command,
        code: i32,
        text: String,
    },
    #[error("the former flags are of pid {former}, and pid {pid} is another process")]
    OtherProcess { pid: u32, former: u32 },
    #[error("pid {pid} failed before and is left alone for {left_ms} ms more")]
    BackedOff { pid: u32, left_ms: u128 },
    #[error(transparent)]
    File(#[from] JobFileError),
    #[error("cannot {action} pid {pid}: {source}")]
    System {
        action: &'static str,
        pid: u32,
        source: io::Error,
    },
}

/// A JVM to talk to.
#[derive(Debug, Clone, Copy)]
pub struct Attach<'a> {
    pub host: &'a Host,
    pub process: &'a Process,
    pub patience: Patience,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            listener: Duration::from_secs(2),
            command: Duration::from_secs(1),
            collection: Duration::from_secs(10),
        }
    }
}

impl Attach<'_> {
    /// Sends a command and gives the text of its answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn send(self, command: Command) -> Result<Reply, AttachError> {
        let pid = self.process.pid();
        let stream = self.connect()?;
        let patience = match command {
            Command::CollectGarbage => self.patience.collection,
            _ => self.patience.command,
        };
        let answer = self.exchange(stream, &command.frame(), patience)?;
        let reply = reply::parse(&answer).ok_or(AttachError::Malformed { pid, command })?;
        if reply.code != 0 {
            return Err(AttachError::Refused {
                pid,
                command,
                code: reply.code,
                text: reply.text,
            });
        }
        Ok(reply)
    }

    /// That the JVM is there and can answer now.
    pub fn check(self) -> Result<Status, AttachError> {
        let pid = self.process.pid();
        let read = |source| self.system("read the status of", source);
        let status = self.process.status().map_err(read)?;
        let status = status.ok_or(AttachError::Gone { pid })?;
        if !status.can_answer() {
            let state = status.state;
            return Err(AttachError::Stopped { pid, state });
        }
        let cgroup = self.process.cgroup().map_err(read)?;
        let cgroup = cgroup.ok_or(AttachError::Gone { pid })?;
        if self.host.freezers.hold(&cgroup) {
            return Err(AttachError::Frozen { pid });
        }
        if !self.process.is_there() {
            return Err(AttachError::Gone { pid });
        }
        Ok(status)
    }

    pub fn system(self, action: &'static str, source: impl Into<io::Error>) -> AttachError {
        AttachError::System {
            action,
            pid: self.process.pid(),
            source: source.into(),
        }
    }

    /// Connects; makes the JVM listen first where it does not.
    fn connect(self) -> Result<UnixStream, AttachError> {
        let pid = self.process.pid();
        let status = self.check()?;
        let tmp = JobTmp::open(self.process)?.ok_or(AttachError::Gone { pid })?;
        let name = format!(".java_pid{}", status.inner_pid);
        let begun = Instant::now();
        let mut trigger = None;
        loop {
            let mut listens = false;
            if let Some(socket) = tmp.open_socket(&name, status.uid)? {
                match self.try_connect(&socket, status.uid) {
                    // Left from an earlier process with that pid.
                    Err(AttachError::System { source, .. }) if is(&source, Errno::ECONNREFUSED) => {
                    }
                    // Too many wait there at the moment.
                    Err(AttachError::System { source, .. }) if is(&source, Errno::EAGAIN) => {
                        listens = true;
                    }
                    other => return other,
                }
            }
            if begun.elapsed() >= self.patience.listener {
                return Err(AttachError::TimedOut {
                    pid,
                    what: "listen",
                    waited_ms: begun.elapsed().as_millis(),
                });
            }
            let status = self.check()?;
            if !listens && trigger.is_none() {
                trigger = Some(listener::start(self, &tmp, status)?);
            }
            thread::sleep(RETRY);
        }
    }

    /// Connects without waiting, by the handle and not by the name.
    fn try_connect(self, socket_file: &OwnedFd, uid: u32) -> Result<UnixStream, AttachError> {
        let pid = self.process.pid();
        let failed = |source: Errno| self.system("connect to", source);
        let path = format!("/proc/self/fd/{}", socket_file.as_raw_fd());
        let address = UnixAddr::new(path.as_str()).map_err(failed)?;
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let ours = socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(failed)?;
        connect(ours.as_raw_fd(), &address).map_err(failed)?;
        let peer = getsockopt(&ours, PeerCredentials).map_err(failed)?;
        if u32::try_from(peer.pid()) != Ok(pid) || peer.uid() != uid {
            return Err(AttachError::OtherPeer {
                pid,
                peer: peer.pid(),
                uid: peer.uid(),
            });
        }
        let stream = UnixStream::from(ours);
        let blocking = stream.set_nonblocking(false);
        blocking.map_err(|source| self.system("connect to", source))?;
        Ok(stream)
    }

    /// Writes a frame and reads until the other end closes.
    fn exchange(
        self,
        mut stream: UnixStream,
        frame: &[u8],
        patience: Duration,
    ) -> Result<Vec<u8>, AttachError> {
        let pid = self.process.pid();
        let begun = Instant::now();
        let timed_out = || AttachError::TimedOut {
            pid,
            what: "answer",
            waited_ms: begun.elapsed().as_millis(),
        };
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => timed_out(),
            _ => self.system("talk to", source),
        };
        stream.set_write_timeout(Some(patience)).map_err(failed)?;
        stream.write_all(frame).map_err(failed)?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        loop {
            // Each read has what is left of the time: bytes that drip do not prolong it.
            let left = patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(timed_out());
            }
            stream.set_read_timeout(Some(left)).map_err(failed)?;
            match stream.read(&mut part) {
                Ok(0) => return Ok(answer),
                Ok(count) => answer.extend(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
            if answer.len() > MOST_ANSWER_BYTES {
                return Err(AttachError::TooLong { pid });
            }
        }
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno as i32)
}

#[cfg(test)]
mod tests;
