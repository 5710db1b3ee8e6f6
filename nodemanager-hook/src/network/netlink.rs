//! Requests over an rtnetlink socket.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use nix::sys::{
    socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
        setsockopt, socket, sockopt,
    },
    time::TimeVal,
};

/// The kernel answers at once; this is against waiting for ever if it does not.
const TIMEOUT_S: i64 = 2;
/// What the kernel puts into one datagram at most.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// A socket in the network namespace where it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// What the kernel answers, not parsed yet: a list has entries that nobody asks for, and what a
/// library does not understand of them must not be an error.
#[derive(Debug)]
pub struct Answer(pub Vec<u8>);

impl NetlinkDeserializable for Answer {
    type Error = DecodeError;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(payload.to_vec()))
    }
}

impl Netlink {
    pub fn open() -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        setsockopt(
            &socket,
            sockopt::ReceiveTimeout,
            &TimeVal::new(TIMEOUT_S, 0),
        )?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Asks for a change and waits until it is made.
    ///
    /// # Errors
    /// What the kernel says of the change.
    pub fn change(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.ask(message, NLM_F_ACK | flags)?;
        Ok(())
    }

    /// Asks for a list.
    ///
    /// # Errors
    /// What the kernel says of the request; an answer that is no netlink message.
    pub fn list(&mut self, message: RouteNetlinkMessage) -> io::Result<Vec<Answer>> {
        self.ask(message, NLM_F_DUMP)
    }

    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<Answer>> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = serialize(message, NLM_F_REQUEST | flags, self.sequence);
        let kernel = NetlinkAddr::new(0, 0);
        sendto(
            self.socket.as_raw_fd(),
            &request,
            &kernel,
            MsgFlags::empty(),
        )?;
        let mut answers = Vec::new();
        let mut buffer = vec![0; DATAGRAM_BYTES];
        loop {
            let received = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            if take_answers(&buffer[..received], self.sequence, &mut answers)? {
                return Ok(answers);
            }
        }
    }
}

/// The bytes of a request.
pub fn serialize(message: RouteNetlinkMessage, flags: u16, sequence: u32) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header.sequence_number = sequence;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    bytes
}

/// Takes the answers to one request out of a datagram; says whether they are complete.
pub(crate) fn take_answers(
    mut datagram: &[u8],
    sequence: u32,
    answers: &mut Vec<Answer>,
) -> io::Result<bool> {
    const ALIGNMENT: usize = 4;
    while !datagram.is_empty() {
        let message = NetlinkMessage::<Answer>::deserialize(datagram)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let length = (message.header.length as usize).next_multiple_of(ALIGNMENT);
        datagram = datagram.get(length..).unwrap_or_default();
        if message.header.sequence_number != sequence {
            continue; // The answer to a request that timed out.
        }
        match message.payload {
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
            NetlinkPayload::Error(_) => return Ok(true),
            NetlinkPayload::InnerMessage(answer) => answers.push(answer),
            _ => {}
        }
    }
    Ok(false)
}
