//! The users that may use the socket.

use std::{collections::BTreeSet, os::unix::net::UnixStream};

use nix::{
    sys::socket::{getsockopt, sockopt::PeerCredentials},
    unistd::{User, geteuid},
};

use crate::{config::UserName, peer::Peer};

#[derive(Debug)]
pub struct AllowedUsers(BTreeSet<u32>);

impl AllowedUsers {
    /// Root, the agent's own user, and the configured users.
    pub fn resolve(configured: &[UserName]) -> Result<Self, String> {
        let mut users = BTreeSet::from([0, geteuid().as_raw()]);
        for user in configured {
            users.insert(match user {
                UserName::Uid(uid) => *uid,
                UserName::Name(name) => match User::from_name(name) {
                    Ok(Some(user)) => user.uid.as_raw(),
                    _ => {
                        let unknown = "this host has no such user";
                        return Err(format!("socket.allowed_users = {name}: {unknown}"));
                    }
                },
            });
        }
        Ok(Self(users))
    }

    /// Identifies the peer, or returns why it is refused.
    pub fn check(&self, stream: &UnixStream) -> Result<Peer, String> {
        let peer = getsockopt(stream, PeerCredentials)
            .map_err(|error| format!("the peer's user is unknown: {error}"))?;
        if self.0.contains(&peer.uid()) {
            return Ok(Peer { pid: u32::try_from(peer.pid()).unwrap_or(0), uid: peer.uid() });
        }
        Err(format!("uid {} may not use this agent's socket", peer.uid()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_the_agent_and_the_configured_users_are_allowed() {
        let configured = [UserName::Uid(4711), UserName::Name("nobody".into())];
        let AllowedUsers(users) = AllowedUsers::resolve(&configured).unwrap();
        for uid in [0, geteuid().as_raw(), 4711] {
            assert!(users.contains(&uid), "{uid}");
        }
        assert!(users.len() >= 3);
    }

    #[test]
    fn an_unknown_user_is_named() {
        let configured = [UserName::Name("no-such-user".into())];
        let error = AllowedUsers::resolve(&configured).unwrap_err().to_string();
        assert!(error.starts_with("socket.allowed_users = no-such-user:"), "{error}");
    }

    #[test]
    fn the_kernel_identifies_the_peer() {
        let (one, _other) = UnixStream::pair().unwrap();
        let peer = AllowedUsers::resolve(&[]).unwrap().check(&one).unwrap();
        assert_eq!((peer.pid, peer.uid), (std::process::id(), geteuid().as_raw()));
        let reason = AllowedUsers(BTreeSet::new()).check(&one).unwrap_err();
        assert!(reason.ends_with("may not use this agent's socket"), "{reason}");
    }
}
