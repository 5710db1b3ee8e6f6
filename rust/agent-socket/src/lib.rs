//! The NodeManager's side of the agent's Unix socket: requests with one deadline, each answered before the
//! next is sent.

mod timed_stream;

use std::path::Path;
use std::time::Duration;

use elastane_protocol::frame::{self, FrameError};
use elastane_protocol::{AgentRequest, AgentResponse, Reply, RunningContainer, decode, encode};
use serde::Deserialize;

use self::timed_stream::TimedStream;

/// Why an exchange with the agent failed.
#[derive(Debug, thiserror::Error)]
pub enum AgentSocketError {
    /// The caller's arguments are invalid. The agent has not seen them.
    #[error("{0}")]
    Invalid(String),
    /// The agent was not reached, did not answer in time, or refused the request.
    #[error("{0}")]
    Io(String),
}

impl AgentSocketError {
    fn invalid(error: impl std::fmt::Display) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// One connection to the agent. Each exchange opens its own, so that a restarted agent needs no
/// reconnecting.
#[derive(Debug)]
pub struct AgentSocket {
    path: String,
    stream: TimedStream,
}

impl AgentSocket {
    /// Connects. All requests on this connection share one deadline, `timeout_ms` from now.
    ///
    /// # Errors
    /// The time-out is not positive, nobody listens at `path`, or the listener takes no connections.
    pub fn connect(path: &str, timeout_ms: i32) -> Result<Self, AgentSocketError> {
        let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
        if timeout.is_zero() {
            let reason = format!("the time-out is {timeout_ms} ms; it must be above 0");
            return Err(AgentSocketError::Invalid(reason));
        }
        let path = path.to_owned();
        match TimedStream::connect(Path::new(&path), timeout) {
            Ok(stream) => Ok(Self { path, stream }),
            Err(error) => Err(AgentSocketError::Io(format!("the agent at {path}: {error}"))),
        }
    }

    /// Tells the agent which containers run now, as the JSON list of `docs/boundary.md`.
    ///
    /// # Errors
    /// The JSON is invalid, or the exchange failed.
    pub fn containers(&mut self, containers_json: &str) -> Result<(), AgentSocketError> {
        let containers = read_containers(containers_json)?;
        self.done(&AgentRequest::Containers(containers))
    }

    /// The agent's report, encoded as the ResourceManager reads it.
    ///
    /// # Errors
    /// The exchange failed, or the report is too long to encode.
    pub fn report(&mut self) -> Result<Vec<u8>, AgentSocketError> {
        match self.ask(&AgentRequest::Collect)? {
            AgentResponse::Report(report) => encode(&report).map_err(AgentSocketError::invalid),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Hands the ResourceManager's reply on to the agent.
    ///
    /// # Errors
    /// The reply cannot be decoded, or the exchange failed.
    pub fn apply(&mut self, version: i32, body: &[u8]) -> Result<(), AgentSocketError> {
        let version = u16::try_from(version).map_err(AgentSocketError::invalid)?;
        let reply: Reply = decode(version, body).map_err(AgentSocketError::invalid)?;
        self.done(&AgentRequest::Apply(reply))
    }

    fn done(&mut self, request: &AgentRequest) -> Result<(), AgentSocketError> {
        match self.ask(request)? {
            AgentResponse::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &AgentRequest) -> Result<AgentResponse, AgentSocketError> {
        let failed = |error: FrameError| {
            AgentSocketError::Io(format!("the agent at {}: {error}", self.path))
        };
        frame::write(&mut self.stream, request).map_err(failed)?;
        frame::read(&mut self.stream).map_err(failed)
    }

    fn unexpected(&self, response: &AgentResponse) -> AgentSocketError {
        let what = match response {
            AgentResponse::Refused(reason) => format!("refused: {reason}"),
            _ => "answered another request than the one sent".to_owned(),
        };
        AgentSocketError::Io(format!("the agent at {} {what}", self.path))
    }
}

#[derive(Deserialize)]
struct ContainerJson {
    container: String,
    pid: u32,
    memory_bytes: u64,
}

fn read_containers(json: &str) -> Result<Vec<RunningContainer>, AgentSocketError> {
    let containers: Vec<ContainerJson> = serde_json::from_str(json)
        .map_err(|error| AgentSocketError::invalid(format!("containers: {error}")))?;
    let running = containers.into_iter().map(|running| RunningContainer {
        container: running.container,
        pid: running.pid,
        request_memory_bytes: running.memory_bytes,
    });
    Ok(running.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)] // what fails here fails the test

    use std::io::{Read, Write};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;
    use std::thread;
    use std::time::Instant;

    use nix::sys::socket::{
        AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket,
    };

    use super::*;

    const TIMEOUT_MS: i32 = 400;
    /// The time-out, with time to spare for a busy machine.
    const AT_MOST: Duration = Duration::from_millis(1500);

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("agent.sock")
        }

        fn connect(&self) -> Result<AgentSocket, AgentSocketError> {
            AgentSocket::connect(self.path().to_str().unwrap(), TIMEOUT_MS)
        }
    }

    /// The error of work that must fail in time.
    fn failure_in_time<T>(work: impl FnOnce() -> Result<T, AgentSocketError>) -> String {
        let begun = Instant::now();
        let Err(AgentSocketError::Io(message)) = work() else {
            panic!("must fail with an error of the socket");
        };
        assert!(begun.elapsed() < AT_MOST, "{:?}: {message}", begun.elapsed());
        message
    }

    /// A listener with a full backlog, as a stopped agent has after a while. The backlog is the smallest possible.
    fn full_listener(place: &Place) -> (OwnedFd, Vec<TimedStream>) {
        let flags = SockFlag::SOCK_CLOEXEC;
        let listener = socket(AddressFamily::Unix, SockType::Stream, flags, None).unwrap();
        let address = UnixAddr::new(&place.path()).unwrap();
        bind(listener.as_raw_fd(), &address).unwrap();
        listen(&listener, Backlog::new(0).unwrap()).unwrap();
        let connect = || TimedStream::connect(&place.path(), Duration::from_secs(1));
        let waiting = std::iter::repeat_with(connect).map_while(Result::ok);
        (listener, waiting.take(100).collect())
    }

    #[test]
    fn a_connection_to_a_full_listener_fails_at_once() {
        let place = Place::new();
        let (_listener, waiting) = full_listener(&place);
        assert!(!waiting.is_empty() && waiting.len() < 100);
        let message = failure_in_time(|| place.connect());
        assert!(message.contains("it takes no connections"), "{message}");
    }

    #[test]
    fn an_agent_that_never_answers_times_out() {
        let place = Place::new();
        let _listener = UnixListener::bind(place.path()).unwrap();
        let message = failure_in_time(|| place.connect()?.report());
        assert!(message.contains("not done within 400 ms"), "{message}");
    }

    #[test]
    fn an_agent_that_does_not_read_times_out() {
        let place = Place::new();
        let _listener = UnixListener::bind(place.path()).unwrap();
        let container = r#"{"container":"container_e17_1410901177871_0001_01_000001","pid":9,"memory_bytes":1073741824}"#;
        let list = format!("[{}]", vec![container; 5000].join(","));
        let message = failure_in_time(|| place.connect()?.containers(&list));
        assert!(message.contains("not done within 400 ms"), "{message}");
    }

    #[test]
    fn an_agent_that_answers_byte_by_byte_times_out() {
        let place = Place::new();
        let listener = UnixListener::bind(place.path()).unwrap();
        let slow = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&256_u32.to_le_bytes()).unwrap();
            // Each byte arrives well within the time-out, the whole answer does not.
            while stream.write_all(&[0]).is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        let message = failure_in_time(|| place.connect()?.report());
        assert!(message.contains("not done within 400 ms"), "{message}");
        slow.join().unwrap();
    }

    #[test]
    fn several_requests_share_one_deadline() {
        let place = Place::new();
        let listener = UnixListener::bind(place.path()).unwrap();
        let slow = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while frame::read::<AgentRequest>(&mut stream).is_ok() {
                thread::sleep(Duration::from_millis(150));
                if frame::write(&mut stream, &AgentResponse::Done).is_err() {
                    return;
                }
            }
        });
        let message = failure_in_time(|| {
            let mut agent = place.connect()?;
            (0..20).try_for_each(|_| agent.containers("[]"))
        });
        assert!(message.contains("not done within 400 ms"), "{message}");
        slow.join().unwrap();
    }

    #[test]
    fn an_answer_in_time_succeeds() {
        let place = Place::new();
        let listener = UnixListener::bind(place.path()).unwrap();
        let agent = thread::spawn(move || {
            let (mut stream, _): (UnixStream, _) = listener.accept().unwrap();
            let request: AgentRequest = frame::read(&mut stream).unwrap();
            frame::write(&mut stream, &AgentResponse::Done).unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            request
        });
        let list = r#"[{"container":"container_1_1_1_1","pid":9,"memory_bytes":1073741824}]"#;
        place.connect().unwrap().containers(list).unwrap();
        let running = RunningContainer {
            container: "container_1_1_1_1".into(),
            pid: 9,
            request_memory_bytes: 1 << 30,
        };
        assert_eq!(agent.join().unwrap(), AgentRequest::Containers(vec![running]));
    }

    #[test]
    fn a_missing_socket_fails_at_once() {
        let message = failure_in_time(|| Place::new().connect());
        assert!(message.contains("No such file or directory"), "{message}");
        assert!(message.contains("agent.sock"), "{message}");
    }
}
