//! One connection of the NodeManager.

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

/// A stream that gives up at a deadline, however slowly its peer goes on, and counts.
struct Deadline<'a> {
    stream: &'a UnixStream,
    at: Instant,
    bytes: usize,
}

/// How an error is counted.
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

    /// The next request; nothing when the peer is done or stays silent.
    ///
    /// # Errors
    /// A frame that is refused or does not arrive as a whole in time.
    pub fn receive(&mut self) -> Result<Option<AgentRequest>, FrameError> {
        let mut stream = self.deadline();
        match frame::read(&mut stream) {
            Err(FrameError::Io(_)) if stream.bytes == 0 => Ok(None),
            other => other.map(Some),
        }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// A peer that does not take the response in time.
    pub fn send(&mut self, response: &AgentResponse) -> Result<(), FrameError> {
        frame::write(&mut self.deadline(), response)
    }

    /// Says why the connection is closed, where the peer still listens.
    pub fn refuse(&mut self, reason: String) {
        if let Err(error) = self.send(&AgentResponse::Refused(reason)) {
            log::debug!("the refusal was not taken: {error}");
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
    /// Time-outs of a socket must not be 0, which would mean none.
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
    fn a_peer_that_sends_byte_by_byte_is_given_up_at_the_deadline() {
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
        // The first four bytes say 16,843,009 bytes, so keep them small.
        let error = connection.receive().unwrap_err();
        assert!(begun.elapsed() < SHORT * 20, "{error}");
        drop(connection);
        slow.join().unwrap();
    }

    #[test]
    fn a_peer_that_says_nothing_is_no_error() {
        let (agent, peer) = UnixStream::pair().unwrap();
        let mut connection = Connection::new(agent, SHORT);
        assert!(connection.receive().unwrap().is_none());
        drop(peer);
        assert!(connection.receive().unwrap().is_none());
    }
}
