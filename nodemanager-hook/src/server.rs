//! The Unix socket: one thread, one connection at a time, each with a deadline.

mod connection;
mod peers;
pub mod socket;

use std::{
    os::unix::net::{UnixListener, UnixStream},
    thread,
    time::Duration,
};

use elastane_protocol::{AgentRequest, AgentResponse};

use self::connection::Connection;
pub use self::peers::AllowedUsers;
use crate::{once::Once, peer::Peer};

/// For a request, for a response, and for an idle connection.
const TIMEOUT: Duration = Duration::from_secs(2);

pub struct Server {
    listener: UnixListener,
    allowed: AllowedUsers,
    refusals: Once,
}

impl Server {
    pub fn new(listener: UnixListener, allowed: AllowedUsers) -> Self {
        Self { listener, allowed, refusals: Once::default() }
    }

    /// Serves one connection after the other, for ever.
    pub fn serve(mut self, mut handle: impl FnMut(AgentRequest, Peer) -> AgentResponse) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.converse(stream, &mut handle),
                Err(error) => {
                    self.refusals.warn("connections not accepted", error);
                    // Some errors last, such as too many open files.
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    fn converse(
        &mut self,
        stream: UnixStream,
        handle: &mut impl FnMut(AgentRequest, Peer) -> AgentResponse,
    ) {
        let mut connection = Connection::new(stream, TIMEOUT);
        let peer = match self.allowed.check(connection.stream()) {
            Ok(peer) => peer,
            Err(refusal) => {
                self.refusals.warn("peers refused", &refusal);
                connection.refuse(refusal);
                return;
            }
        };
        loop {
            let response = match connection.receive() {
                Ok(Some(request)) => handle(request, peer),
                Ok(None) => return,
                Err(error) => {
                    self.refusals.warn(connection::kind(&error), &error);
                    connection.refuse(error.to_string());
                    return;
                }
            };
            if let AgentResponse::Refused(reason) = response {
                self.refusals.warn("requests refused", &reason);
                connection.refuse(reason);
                return;
            }
            if let Err(error) = connection.send(&response) {
                self.refusals.warn("responses not sent", error);
                return;
            }
        }
    }
}
