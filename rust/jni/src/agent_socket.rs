//! The NodeManager's side of the agent's Unix socket.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use elastane_protocol::frame::{self, FrameError};
use elastane_protocol::{AgentRequest, AgentResponse, Reply, RunningContainer, decode, encode};
use serde::Deserialize;

use crate::failure::Failure;

/// One connection to the agent; each exchange makes its own, so that an agent that was restarted
/// needs no reconnecting.
pub(crate) struct AgentSocket {
    path: String,
    stream: UnixStream,
}

impl AgentSocket {
    pub(crate) fn connect(path: &str, timeout_ms: i32) -> Result<Self, Failure> {
        let timeout_ms = u64::try_from(timeout_ms)
            .ok()
            .filter(|timeout_ms| *timeout_ms > 0)
            .ok_or_else(|| {
                Failure::Refused(format!("time-out is {timeout_ms} ms, above 0 is allowed"))
            })?;
        let timeout = Some(Duration::from_millis(timeout_ms));
        UnixStream::connect(path)
            .and_then(|stream| {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)?;
                Ok(stream)
            })
            .map(|stream| Self {
                path: path.to_owned(),
                stream,
            })
            .map_err(|error| Failure::Io(format!("the agent at {path}: {error}")))
    }

    /// All that runs now.
    pub(crate) fn containers(&mut self, containers_json: &str) -> Result<(), Failure> {
        let containers = read_containers(containers_json)?;
        self.done(&AgentRequest::Containers(containers))
    }

    /// The agent's report as the body that the ResourceManager reads.
    pub(crate) fn report(&mut self) -> Result<Vec<u8>, Failure> {
        match self.ask(&AgentRequest::Collect)? {
            AgentResponse::Report(report) => encode(&report).map_err(Failure::refused),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Hands on the ResourceManager's reply.
    pub(crate) fn apply(&mut self, version: i32, body: &[u8]) -> Result<(), Failure> {
        let version = u16::try_from(version).map_err(Failure::refused)?;
        let reply: Reply = decode(version, body).map_err(Failure::refused)?;
        self.done(&AgentRequest::Apply(reply))
    }

    fn done(&mut self, request: &AgentRequest) -> Result<(), Failure> {
        match self.ask(request)? {
            AgentResponse::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    fn ask(&mut self, request: &AgentRequest) -> Result<AgentResponse, Failure> {
        let failed =
            |error: FrameError| Failure::Io(format!("the agent at {}: {error}", self.path));
        frame::write(&mut self.stream, request).map_err(failed)?;
        frame::read(&mut self.stream).map_err(failed)
    }

    fn unexpected(&self, response: &AgentResponse) -> Failure {
        let path = &self.path;
        match response {
            AgentResponse::Refused(reason) => {
                Failure::Io(format!("the agent at {path} refused: {reason}"))
            }
            _ => Failure::Io(format!(
                "the agent at {path} gave another answer than asked for"
            )),
        }
    }
}

#[derive(Deserialize)]
struct ContainerJson {
    container: String,
    pid: u32,
}

fn read_containers(json: &str) -> Result<Vec<RunningContainer>, Failure> {
    let containers: Vec<ContainerJson> = serde_json::from_str(json)
        .map_err(|error| Failure::refused(format!("containers: {error}")))?;
    Ok(containers
        .into_iter()
        .map(|ContainerJson { container, pid }| RunningContainer { container, pid })
        .collect())
}
