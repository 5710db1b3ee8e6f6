//! Requests over a netlink socket.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use nix::sys::{
    socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
        setsockopt, socket, sockopt,
    },
    time::TimeVal,
};

/// The kernel answers at once. The timeout guards against a kernel that does not answer.
const TIMEOUT_S: i64 = 2;
/// The kernel's limit for a datagram.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// A netlink socket of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

/// An unparsed answer. A list holds entries that nobody asks for; those that the library cannot
/// parse must not be an error.
#[derive(Debug)]
pub struct RawAnswer(pub Vec<u8>);

impl NetlinkDeserializable for RawAnswer {
    type Error = DecodeError;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(payload.to_vec()))
    }
}

impl Netlink {
    pub fn open(protocol: SockProtocol) -> io::Result<Self> {
        let socket =
            socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(TIMEOUT_S, 0))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; DATAGRAM_BYTES] })
    }

    /// Requests a change and waits until the kernel has made it.
    pub fn change(&mut self, message: impl NetlinkSerializable, flags: u16) -> io::Result<()> {
        self.ask(message, NLM_F_ACK | flags).map(drop)
    }

    pub fn list(&mut self, message: impl NetlinkSerializable) -> io::Result<Vec<RawAnswer>> {
        self.ask(message, NLM_F_DUMP)
    }

    /// Asks for one thing: the kernel sends one answer or an error, and nothing after it.
    pub fn get(&mut self, message: impl NetlinkSerializable) -> io::Result<Option<RawAnswer>> {
        self.send(message, 0)?;
        let mut answers = Vec::new();
        while !self.receive(&mut answers)? && answers.is_empty() {}
        Ok(answers.pop())
    }

    fn ask(&mut self, message: impl NetlinkSerializable, flags: u16) -> io::Result<Vec<RawAnswer>> {
        self.send(message, flags)?;
        let mut answers = Vec::new();
        while !self.receive(&mut answers)? {}
        Ok(answers)
    }

    fn send(&mut self, message: impl NetlinkSerializable, flags: u16) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = serialize(message, NLM_F_REQUEST | flags, self.sequence);
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &request, &kernel, MsgFlags::empty())?;
        Ok(())
    }

    /// Appends the answers of one datagram; returns whether they are complete.
    fn receive(&mut self, answers: &mut Vec<RawAnswer>) -> io::Result<bool> {
        let received = recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::empty())?;
        take_answers(&self.buffer[..received], self.sequence, answers)
    }
}

pub fn serialize(message: impl NetlinkSerializable, flags: u16, sequence: u32) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header.sequence_number = sequence;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    bytes
}

/// Appends the answers to one request from a datagram; returns whether they are complete.
pub(crate) fn take_answers(
    mut datagram: &[u8],
    sequence: u32,
    answers: &mut Vec<RawAnswer>,
) -> io::Result<bool> {
    const ALIGNMENT: usize = 4;
    while !datagram.is_empty() {
        let message = NetlinkMessage::<RawAnswer>::deserialize(datagram)
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
