//! A Unix socket that gives up at one deadline, whatever the other end does.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

/// A connection for one exchange. Time-outs of a socket hold for each call to the kernel: an end
/// that goes on slowly would never pass one, so what is left is counted down here.
pub(super) struct TimedStream {
    stream: UnixStream,
    timeout: Duration,
    deadline: Instant,
}

impl TimedStream {
    /// Connects; everything has to be done within `timeout` from now on.
    ///
    /// The connection is made without waiting: a listener that takes none would keep the caller
    /// for ever, since the standard library has no time-out for it.
    ///
    /// # Errors
    /// Nobody listens, or whoever listens takes no connections.
    pub(super) fn connect(path: &Path, timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        match connect(socket.as_raw_fd(), &UnixAddr::new(path)?) {
            Err(Errno::EAGAIN) => {
                let reason = "it takes no connections, and too many wait for it";
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            other => other?,
        }
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(Self {
            stream,
            timeout,
            deadline,
        })
    }

    /// What is left; never zero, which would mean no time-out to the kernel.
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

    /// The kernel says of a time-out that the call would block.
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
