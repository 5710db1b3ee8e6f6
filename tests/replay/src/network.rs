use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpStream};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, bind, connect, socket};

use crate::error::ReplayError;

const CALL_BYTES: usize = 64 * 1024;

/// Sends bytes to a peer that discards them.
#[derive(Debug)]
pub(crate) struct Network {
    stream: TcpStream,
    peer: SocketAddr,
    to_send: f64,
    buffer: Vec<u8>,
}

impl Network {
    /// Connects to `peer`, from the address `from` if one is given.
    pub(crate) fn connect(peer: SocketAddr, from: Option<IpAddr>) -> Result<Self, ReplayError> {
        let stream = connected(peer, from)
            .map_err(|cause| ReplayError::Peer { peer: peer.to_string(), cause })?;
        Ok(Self { stream, peer, to_send: 0.0, buffer: vec![0; CALL_BYTES] })
    }

    /// Sends `bytes`; part of a byte is sent with the next call.
    pub(crate) fn send(&mut self, bytes: f64) -> Result<(), ReplayError> {
        self.to_send += bytes;
        while self.to_send >= 1.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at least 1, at most 64 KiB"
            )]
            let length = self.to_send.min(CALL_BYTES as f64) as usize;
            self.stream
                .write_all(&self.buffer[..length])
                .map_err(|cause| ReplayError::Peer { peer: self.peer.to_string(), cause })?;
            self.to_send -= length as f64;
        }
        Ok(())
    }
}

fn connected(peer: SocketAddr, from: Option<IpAddr>) -> std::io::Result<TcpStream> {
    let Some(from) = from else { return TcpStream::connect(peer) };
    let family = if peer.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    use std::os::fd::AsRawFd;
    bind(socket.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(from, 0)))?;
    connect(socket.as_raw_fd(), &SockaddrStorage::from(peer))?;
    Ok(TcpStream::from(socket))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn sends_what_is_asked_for_from_the_address_that_is_given() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = listener.local_addr().unwrap();
        let sink = std::thread::spawn(move || {
            let (mut stream, from) = listener.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            (all.len(), from.ip())
        });
        let from: IpAddr = "127.0.0.2".parse().unwrap();
        let mut network = Network::connect(peer, Some(from)).unwrap();
        for _ in 0..100 {
            network.send(1500.5).unwrap();
        }
        drop(network);
        assert_eq!(sink.join().unwrap(), (150_050, from));
    }
}
