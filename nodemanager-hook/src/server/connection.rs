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

/// A stream that fails at a deadline, even if its peer sends byte by byte.
pub struct Connection {
    stream: UnixStream,
    timeout: Duration,
    /// Of the connection as a whole.
    ends: Instant,
    /// Of the present request or response.
    deadline: Instant,
    /// Read of the present request.
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
    /// `timeout`: for a request, for a response, and for an idle connection. `longest`: for the connection as a
    /// whole, so that no peer keeps the others waiting.
    pub fn new(stream: UnixStream, timeout: Duration, longest: Duration) -> Self {
        let now = Instant::now();
        Self { stream, timeout, ends: now + longest, deadline: now, bytes: 0 }
    }

    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The next request, or None if the peer has closed the connection or sends nothing in time.
    pub fn receive(&mut self) -> Result<Option<AgentRequest>, FrameError> {
        self.begin();
        self.bytes = 0;
        match frame::read(self) {
            Err(FrameError::Io(_)) if self.bytes == 0 => Ok(None),
            other => other.map(Some),
        }
    }

    pub fn send(&mut self, response: &AgentResponse) -> Result<(), FrameError> {
        self.begin();
        frame::write(self, response)
    }

    fn begin(&mut self) {
        self.deadline = self.ends.min(Instant::now() + self.timeout);
    }

    /// Tells the peer why the connection is closed.
    pub fn refuse(&mut self, reason: String) {
        if let Err(error) = self.send(&AgentResponse::Refused(reason)) {
            log::debug!("the refusal was not sent: {error}");
        }
    }

    /// Never 0, which a socket would take for no timeout.
    fn remaining(&self) -> io::Result<Duration> {
        match self.deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            remaining => Ok(remaining),
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        let count = self.stream.read(buffer)?;
        self.bytes += count;
        Ok(count)
    }
}

impl Write for Connection {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write(buffer)
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
        let mut connection = Connection::new(agent, SHORT, SHORT * 10);
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
    fn a_peer_that_never_stops_asking_is_left_at_the_end() {
        let (agent, mut peer) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        let mut connection = Connection::new(agent, SHORT, SHORT * 3);
        let asks = thread::spawn(move || {
            let mut asked = 0;
            while frame::write(&mut peer, &AgentRequest::Collect).is_ok() {
                asked += 1;
            }
            asked
        });
        // The end may come in the middle of a request.
        while let Ok(Some(_)) = connection.receive() {}
        let held = begun.elapsed();
        assert!(SHORT * 3 <= held && held < SHORT * 20, "{held:?}");
        drop(connection);
        assert!(asks.join().unwrap() > 1);
    }

    #[test]
    fn a_silent_peer_is_not_an_error() {
        let (agent, peer) = UnixStream::pair().unwrap();
        let mut connection = Connection::new(agent, SHORT, SHORT * 10);
        assert!(connection.receive().unwrap().is_none());
        drop(peer);
        assert!(connection.receive().unwrap().is_none());
    }
}
