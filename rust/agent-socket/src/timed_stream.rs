//! A Unix socket with one deadline, whatever the other end does.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

/// A connection for one exchange.
///
/// A socket's own time-out holds for each call to the kernel, so a peer that sends a byte now and then never
/// exceeds it. The remaining time is therefore set before each call.
#[derive(Debug)]
pub(crate) struct TimedStream {
    stream: UnixStream,
    timeout: Duration,
    deadline: Instant,
}

impl TimedStream {
    /// Connects. All reads and writes must be done within `timeout` from now.
    ///
    /// Connects without waiting: the standard library has no time-out for it, and a listener with a full
    /// backlog would block the caller for ever.
    pub(crate) fn connect(path: &Path, timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        match connect(socket.as_raw_fd(), &UnixAddr::new(path)?) {
            Err(Errno::EAGAIN) => {
                let reason = "it takes no connections, and its backlog is full";
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            other => other?,
        }
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(Self { stream, timeout, deadline })
    }

    /// The remaining time; never zero, which the kernel takes for no time-out.
    fn remaining(&self) -> io::Result<Duration> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(self.timed_out());
        }
        Ok(remaining)
    }

    fn timed_out(&self) -> io::Error {
        let reason = format!("not done within {} ms", self.timeout.as_millis());
        io::Error::new(io::ErrorKind::TimedOut, reason)
    }

    /// The kernel reports a time-out as `WouldBlock`.
    fn named(&self, error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::WouldBlock {
            return self.timed_out();
        }
        error
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        self.stream.read(buffer).map_err(|error| self.named(error))
    }
}

impl Write for TimedStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write(buffer).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
