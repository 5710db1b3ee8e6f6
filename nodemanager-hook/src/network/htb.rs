//! rtnetlink messages for a hierarchical token bucket (HTB).
//!
//! netlink-packet-route lacks the attributes of HTB. They are laid out here as in the kernel's
//! `linux/pkt_sched.h`.

use netlink_packet_core::{DecodeError, DefaultNla, NlasIterator, parse_string};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption};

pub const KIND: &str = "htb";

/// The size of a `struct tcmsg`, which precedes the attributes.
const HEADER_BYTES: usize = 20;
const ATTRIBUTE_KIND: u16 = 1;
const ATTRIBUTE_OPTIONS: u16 = 2;

// Options of HTB.
const PARAMETERS: u16 = 1;
const INIT: u16 = 2;
const RATE64: u16 = 6;
const CEIL64: u16 = 7;

const VERSION: u32 = 3;
/// Divisor of the kernel's default quantum; every class here sets its own quantum.
const RATE_TO_QUANTUM: u32 = 10;
/// Packet sizes include the Ethernet header. The kernel then needs no rate tables.
const LINK_LAYER_ETHERNET: u8 = 1;
/// The unit of bursts since Linux 2.6.31.
const NS_PER_TICK: u64 = 64;

/// A burst holds one packet that the device segments, or the bytes between two clock reads of the
/// kernel.
const LEAST_BURST_BYTES: u64 = 64 * 1024;
const BURST_MS: u64 = 2;

const MS_PER_S: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

/// The rates of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassRate {
    /// Guaranteed, at least 1.
    pub rate_bytes_per_s: u64,
    /// Maximum.
    pub ceil_bytes_per_s: u64,
    /// HTB's quantum: bytes that the class sends at its turn when classes share spare bandwidth.
    pub turn_bytes: u32,
}

/// An existing queueing discipline.
#[derive(Debug, PartialEq, Eq)]
pub struct Discipline {
    pub device: i32,
    pub parent: TcHandle,
    pub handle: TcHandle,
    pub kind: String,
    /// HTB only: the class of unclassified packets.
    pub default_minor: Option<u32>,
}

impl Discipline {
    /// Parses an entry of the kernel's list; fails if the entry is truncated.
    pub fn parse(entry: &[u8]) -> Result<Self, DecodeError> {
        let header = TcHeader::parse(entry)?;
        let mut discipline = Self {
            device: header.index,
            parent: header.parent,
            handle: header.handle,
            kind: String::new(),
            default_minor: None,
        };
        let attributes = entry.get(HEADER_BYTES..).unwrap_or_default();
        for attribute in NlasIterator::new(attributes) {
            let attribute = attribute?;
            match attribute.kind() {
                ATTRIBUTE_KIND => discipline.kind = parse_string(attribute.value())?,
                ATTRIBUTE_OPTIONS if discipline.kind == KIND => {
                    discipline.default_minor = default_minor(attribute.value());
                }
                _ => {}
            }
        }
        Ok(discipline)
    }
}

fn default_minor(options: &[u8]) -> Option<u32> {
    let mut options = NlasIterator::new(options).flatten();
    let init = options.find(|option| option.kind() == INIT)?;
    let minor = init.value().get(8..12)?;
    Some(u32::from_ne_bytes(minor.try_into().ok()?))
}

/// The root of a device, which sends unclassified packets to `default_minor`.
pub fn root(device: i32, handle: TcHandle, default_minor: u16) -> TcMessage {
    let (debug, direct_packets) = (0, 0);
    let init = [VERSION, RATE_TO_QUANTUM, default_minor.into(), debug, direct_packets];
    let init = option(INIT, init.map(u32::to_ne_bytes).concat());
    message(device, TcHandle::ROOT, handle, vec![init])
}

/// A class below the root or below another class.
pub fn class(device: i32, parent: TcHandle, class: TcHandle, rate: ClassRate) -> TcMessage {
    let ClassRate { rate_bytes_per_s, ceil_bytes_per_s, turn_bytes } = rate;
    let (level, priority) = (0, 0);
    let words =
        [burst_ticks(rate_bytes_per_s), burst_ticks(ceil_bytes_per_s), turn_bytes, level, priority];
    let mut parameters = [rate_bytes_per_s, ceil_bytes_per_s].map(rate_specification).concat();
    parameters.extend(words.map(u32::to_ne_bytes).concat());
    let mut options = vec![option(PARAMETERS, parameters)];
    for (kind, bytes_per_s) in [(RATE64, rate_bytes_per_s), (CEIL64, ceil_bytes_per_s)] {
        if u32::try_from(bytes_per_s).is_err() {
            options.push(option(kind, bytes_per_s.to_ne_bytes().to_vec()));
        }
    }
    message(device, parent, class, options)
}

/// The message that names a root or a class for its removal.
pub fn named(device: i32, parent: TcHandle, handle: TcHandle) -> TcMessage {
    let mut message = TcMessage::with_index(device);
    message.header.parent = parent;
    message.header.handle = handle;
    message
}

fn message(device: i32, parent: TcHandle, handle: TcHandle, options: Vec<TcOption>) -> TcMessage {
    let mut message = named(device, parent, handle);
    message.attributes.push(TcAttribute::Kind(KIND.into()));
    message.attributes.push(TcAttribute::Options(options));
    message
}

fn option(kind: u16, bytes: Vec<u8>) -> TcOption {
    TcOption::Other(DefaultNla::new(kind, bytes))
}

/// A `struct tc_ratespec`. Rates above 32 bits follow in an attribute of their own.
fn rate_specification(bytes_per_s: u64) -> Vec<u8> {
    let (cell_log, overhead, cell_align, least_bytes) = (0, 0, -1, 0);
    let words = [overhead, cell_align, least_bytes].map(i16::to_ne_bytes);
    let rate = u32::try_from(bytes_per_s).unwrap_or(u32::MAX);
    [&[cell_log, LINK_LAYER_ETHERNET], words.as_flattened(), &rate.to_ne_bytes()].concat()
}

/// HTB takes a burst as the time that it lasts at the rate.
fn burst_ticks(bytes_per_s: u64) -> u32 {
    let bytes = (bytes_per_s / MS_PER_S * BURST_MS).max(LEAST_BURST_BYTES);
    let ns = u128::from(bytes) * u128::from(NS_PER_S) / u128::from(bytes_per_s.max(1));
    u32::try_from(ns / u128::from(NS_PER_TICK)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST};
    use netlink_packet_route::RouteNetlinkMessage;

    use super::*;
    use crate::{netlink::serialize, network::link::handle};

    /// Bytes as strace prints them.
    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits = hexadecimal.split_whitespace();
        let parse = |byte| u8::from_str_radix(byte, 16).unwrap();
        digits.map(parse).collect()
    }

    /// Recorded from `tc qdisc add dev DEVICE root handle 7e1a: htb default 2` for device 5.
    #[test]
    #[cfg(target_endian = "little")]
    fn a_root_is_what_tc_sends() {
        let message = RouteNetlinkMessage::NewQueueDiscipline(root(5, handle(0), 2));
        let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_EXCL | NLM_F_CREATE;
        let expected = bytes(
            "48 00 00 00 24 00 05 06 07 00 00 00 00 00 00 00 \
             00 00 00 00 05 00 00 00 00 00 1a 7e ff ff ff ff 00 00 00 00 \
             08 00 01 00 68 74 62 00 1c 00 02 00 \
             18 00 02 00 03 00 00 00 0a 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00",
        );
        assert_eq!(serialize(message, flags, 7), expected);
    }

    /// Recorded, without the tables that tc adds for kernels before 3.8. `tc` shows `rate 80Mbit
    /// ceil 160Mbit linklayer ethernet burst 64Kb cburst 64Kb quantum 65536`.
    #[test]
    #[cfg(target_endian = "little")]
    fn a_class_has_rate_ceiling_bursts_and_turn() {
        let rate = ClassRate {
            rate_bytes_per_s: 10_000_000,
            ceil_bytes_per_s: 20_000_000,
            turn_bytes: 65536,
        };
        let class = class(5, handle(1), handle(16), rate);
        let message = RouteNetlinkMessage::NewTrafficClass(class);
        let expected = bytes(
            "60 00 00 00 28 00 05 04 07 00 00 00 00 00 00 00 \
             00 00 00 00 05 00 00 00 10 00 1a 7e 01 00 1a 7e 00 00 00 00 \
             08 00 01 00 68 74 62 00 34 00 02 00 30 00 01 00 \
             00 01 00 00 ff ff 00 00 80 96 98 00 \
             00 01 00 00 ff ff 00 00 00 2d 31 01 \
             00 90 01 00 00 c8 00 00 00 00 01 00 00 00 00 00 00 00 00 00",
        );
        let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
        assert_eq!(serialize(message, flags, 7), expected);
    }

    #[test]
    fn rates_above_32_bits_have_attributes_of_their_own() {
        let rate =
            ClassRate { rate_bytes_per_s: 1, ceil_bytes_per_s: 12_500_000_000, turn_bytes: 1600 };
        let class = class(5, handle(1), handle(16), rate);
        let Some(TcAttribute::Options(options)) = class.attributes.last() else {
            panic!("no options");
        };
        let expected = option(CEIL64, 12_500_000_000_u64.to_ne_bytes().to_vec());
        assert_eq!(options[1..], [expected]);
    }

    /// The kernel's answers about the root above and about a device's default.
    #[test]
    #[cfg(target_endian = "little")]
    fn a_root_is_found_in_the_kernels_answer() {
        let entry = "00 00 00 00 05 00 00 00 00 00 1a 7e ff ff ff ff 03 00 00 00 \
            08 00 01 00 68 74 62 00 24 00 02 00 18 00 02 00 11 00 03 00 0a 00 00 00 02 00 00 00 \
            00 00 00 00 00 00 00 00 08 00 05 00 e8 03 00 00 05 00 0c 00 00 00 00 00";
        let own = Discipline {
            device: 5,
            parent: TcHandle::ROOT,
            handle: handle(0),
            kind: KIND.into(),
            default_minor: Some(2),
        };
        assert_eq!(Discipline::parse(&bytes(entry)).unwrap(), own);
        let entry = "00 00 00 00 05 00 00 00 00 00 00 00 ff ff ff ff 02 00 00 00 \
            0c 00 01 00 6e 6f 71 75 65 75 65 00";
        let default = Discipline::parse(&bytes(entry)).unwrap();
        assert_eq!((default.kind.as_str(), default.handle), ("noqueue", TcHandle::UNSPEC));
        assert!(Discipline::parse(&bytes(entry)[..12]).is_err());
    }
}
