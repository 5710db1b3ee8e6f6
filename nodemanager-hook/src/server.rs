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
use crate::{peer::Peer, troubles::Troubles};

/// For a request, for a response, and for an idle connection.
const TIMEOUT: Duration = Duration::from_secs(2);

/// For a connection. A NodeManager makes one for each exchange of three requests.
const LONGEST: Duration = Duration::from_secs(10);

pub struct Server {
    listener: UnixListener,
    allowed: AllowedUsers,
    refusals: Troubles,
}

impl Server {
    pub fn new(listener: UnixListener, allowed: AllowedUsers) -> Self {
        Self { listener, allowed, refusals: Troubles::default() }
    }

    /// Serves one connection after the other, for ever.
    pub fn serve(self, mut handle: impl FnMut(AgentRequest, Peer) -> AgentResponse) {
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
        &self,
        stream: UnixStream,
        handle: &mut impl FnMut(AgentRequest, Peer) -> AgentResponse,
    ) {
        let mut connection = Connection::new(stream, TIMEOUT, LONGEST);
        if let Err((kind, reason)) = self.answer(&mut connection, handle) {
            self.refusals.warn(kind, &reason);
            connection.refuse(reason);
        }
    }

    /// Answers requests until the peer ends the connection, or returns a kind of trouble and the
    /// reason to refuse the peer.
    fn answer(
        &self,
        connection: &mut Connection,
        handle: &mut impl FnMut(AgentRequest, Peer) -> AgentResponse,
    ) -> Result<(), (&'static str, String)> {
        let peer = self.allowed.check(connection.stream());
        let peer = peer.map_err(|refusal| ("peers refused", refusal))?;
        let failed = |error| (connection::kind(&error), error.to_string());
        while let Some(request) = connection.receive().map_err(failed)? {
            let response = handle(request, peer);
            if let AgentResponse::Refused(reason) = response {
                return Err(("requests refused", reason));
            }
            if let Err(error) = connection.send(&response) {
                self.refusals.warn("responses not sent", error);
                break;
            }
        }
        Ok(())
    }
}
