//! One connection of a NodeManager.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use elastane_protocol::{
    AgentRequest, AgentResponse, BodyError,
    frame::{self, FrameError},
};

pub struct Connection {
    stream: UnixStream,
    timeout: Duration,
}

/// A stream that fails at a deadline, even if its peer sends byte by byte.
struct Deadline<'a> {
    stream: &'a UnixStream,
    at: Instant,
    /// Read so far.
    bytes: usize,
}

/// The kind under which an error is counted.
pub fn kind(error: &FrameError) -> &'static str {
    match error {
        FrameError::Io(_) => "frames cut short",
        FrameError::Body(BodyError::Version { .. }) => "frames of another version",
        FrameError::Body(BodyError::TooLarge { .. }) => "frames too large",
        FrameError::Body(BodyError::Malformed { .. }) => "frames malformed",
    }
}

impl Connection {
    pub fn new(stream: UnixStream, timeout: Duration) -> Self {
        Self { stream, timeout }
    }

    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The next request, or None if the peer has closed the connection or sends nothing in time.
    pub fn receive(&mut self) -> Result<Option<AgentRequest>, FrameError> {
        let mut stream = self.deadline();
        match frame::read(&mut stream) {
            Err(FrameError::Io(_)) if stream.bytes == 0 => Ok(None),
            other => other.map(Some),
        }
    }

    pub fn send(&mut self, response: &AgentResponse) -> Result<(), FrameError> {
        frame::write(&mut self.deadline(), response)
    }

    /// Tells the peer why the connection is closed.
    pub fn refuse(&mut self, reason: String) {
        if let Err(error) = self.send(&AgentResponse::Refused(reason)) {
            log::debug!("the refusal was not sent: {error}");
        }
    }

    fn deadline(&self) -> Deadline<'_> {
        Deadline {
            stream: &self.stream,
            at: Instant::now() + self.timeout,
            bytes: 0,
        }
    }
}

impl Deadline<'_> {
    /// Never 0, which a socket would take for no timeout.
    fn remaining(&self) -> io::Result<Duration> {
        let remaining = self.at.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(remaining)
    }
}

impl Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        let count = (&mut &*self.stream).read(buffer)?;
        self.bytes += count;
        Ok(count)
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        (&mut &*self.stream).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const SHORT: Duration = Duration::from_millis(100);

    #[test]
    fn a_peer_that_sends_byte_by_byte_fails_at_the_deadline() {
        let (agent, mut peer) = UnixStream::pair().unwrap();
        let mut connection = Connection::new(agent, SHORT);
        let slow = thread::spawn(move || {
            let mut sent = 0;
            while peer.write_all(&[1]).is_ok() && sent < 100 {
                thread::sleep(SHORT / 10);
                sent += 1;
            }
        });
        let begun = Instant::now();
        // The first four bytes announce 16,843,009 bytes, which is refused.
        let error = connection.receive().unwrap_err();
        assert!(begun.elapsed() < SHORT * 20, "{error}");
        drop(connection);
        slow.join().unwrap();
    }

    #[test]
    fn a_silent_peer_is_not_an_error() {
        let (agent, peer) = UnixStream::pair().unwrap();
        let mut connection = Connection::new(agent, SHORT);
        assert!(connection.receive().unwrap().is_none());
        drop(peer);
        assert!(connection.receive().unwrap().is_none());
    }
}
