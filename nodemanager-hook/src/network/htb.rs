//! The rtnetlink messages that make a hierarchical token bucket on a device.
//!
//! The attributes of HTB are no part of netlink-packet-route and are laid out here, as in the
//! kernel's `linux/pkt_sched.h`.

use netlink_packet_core::{DecodeError, DefaultNla, NlasIterator, parse_string};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcHeader, TcMessage, TcOption};

/// The kind of queueing discipline.
pub const KIND: &str = "htb";

/// A `struct tcmsg`, before the attributes.
const HEADER_BYTES: usize = 20;
const ATTRIBUTE_KIND: u16 = 1;
const ATTRIBUTE_OPTIONS: u16 = 2;

// Options of HTB.
const PARAMETERS: u16 = 1;
const INIT: u16 = 2;
const RATE64: u16 = 6;
const CEIL64: u16 = 7;

const VERSION: u32 = 3;
/// What the kernel derives a class's quantum by; every class here names its own.
const RATE_TO_QUANTUM: u32 = 10;
/// Packets count with their Ethernet header. With it no rate tables are needed.
const LINK_LAYER_ETHERNET: u8 = 1;
/// What bursts are counted in, since Linux 2.6.31.
const NS_PER_TICK: u64 = 64;

/// A burst holds one packet of segments that the device cuts, or what passes between two looks of
/// the kernel at the clock.
const LEAST_BURST_BYTES: u64 = 64 * 1024;
const BURST_MS: u64 = 2;

const MS_PER_S: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

/// What a class may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassRate {
    /// What it gets also when others want to send. At least 1.
    pub rate_bytes_per_s: u64,
    /// What it gets at most.
    pub ceil_bytes_per_s: u64,
    /// How much it sends at its turn, of what others leave.
    pub turn_bytes: u32,
}

/// A queueing discipline that is there.
#[derive(Debug, PartialEq, Eq)]
pub struct Discipline {
    /// The index of its device.
    pub device: i32,
    pub parent: TcHandle,
    pub handle: TcHandle,
    /// Such as `htb`.
    pub kind: String,
    /// Of an HTB: where packets without a class go.
    pub default_minor: Option<u32>,
}

impl Discipline {
    /// Parses an entry of the kernel's list.
    ///
    /// # Errors
    /// One that is cut short.
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

/// The root of a device, where packets without a class go to `default_minor`.
pub fn root(device: i32, handle: TcHandle, default_minor: u16) -> TcMessage {
    let mut init = Vec::new();
    let direct_packets = 0_u32; // An answer, never asked.
    let debug = 0_u32;
    for word in [
        VERSION,
        RATE_TO_QUANTUM,
        default_minor.into(),
        debug,
        direct_packets,
    ] {
        init.extend(word.to_ne_bytes());
    }
    let options = vec![TcOption::Other(DefaultNla::new(INIT, init))];
    message(device, TcHandle::ROOT, handle, options)
}

/// A class in a root or in another class.
pub fn class(device: i32, parent: TcHandle, class: TcHandle, rate: ClassRate) -> TcMessage {
    let ClassRate {
        rate_bytes_per_s,
        ceil_bytes_per_s,
        turn_bytes,
    } = rate;
    let mut parameters = Vec::new();
    for bytes_per_s in [rate_bytes_per_s, ceil_bytes_per_s] {
        parameters.extend(rate_specification(bytes_per_s));
    }
    let (level, priority) = (0, 0);
    for word in [
        burst_ticks(rate_bytes_per_s),
        burst_ticks(ceil_bytes_per_s),
        turn_bytes,
        level,
        priority,
    ] {
        parameters.extend(word.to_ne_bytes());
    }
    let mut options = vec![TcOption::Other(DefaultNla::new(PARAMETERS, parameters))];
    for (kind, bytes_per_s) in [(RATE64, rate_bytes_per_s), (CEIL64, ceil_bytes_per_s)] {
        if u32::try_from(bytes_per_s).is_err() {
            let bytes = bytes_per_s.to_ne_bytes().to_vec();
            options.push(TcOption::Other(DefaultNla::new(kind, bytes)));
        }
    }
    message(device, parent, class, options)
}

/// What names a root or a class for its removal.
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

/// A `struct tc_ratespec`; what passes 32 bits follows as an attribute of its own.
fn rate_specification(bytes_per_s: u64) -> [u8; 12] {
    let rate = u32::try_from(bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes();
    let cell_log = 0;
    let cell_align = (-1_i16).to_ne_bytes();
    let [overhead, least_bytes] = [[0; 2]; 2];
    let mut specification = [0; 12];
    specification[0] = cell_log;
    specification[1] = LINK_LAYER_ETHERNET;
    specification[2..4].copy_from_slice(&overhead);
    specification[4..6].copy_from_slice(&cell_align);
    specification[6..8].copy_from_slice(&least_bytes);
    specification[8..].copy_from_slice(&rate);
    specification
}

/// A burst is told as the time that it takes at the rate.
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
    use crate::network::{link::handle, netlink::serialize};

    /// Bytes as strace prints them.
    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits = hexadecimal.split_whitespace();
        let parse = |byte| u8::from_str_radix(byte, 16).unwrap();
        digits.map(parse).collect()
    }

    /// `tc qdisc add dev DEVICE root handle 7e1a: htb default 2`, recorded; the device is the 5th.
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

    /// Recorded, without the tables that tc adds for kernels before 3.8. tc shows it as `rate
    /// 80Mbit ceil 160Mbit linklayer ethernet burst 64Kb cburst 64Kb quantum 65536`.
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
        let rate = ClassRate {
            rate_bytes_per_s: 1,
            ceil_bytes_per_s: 12_500_000_000,
            turn_bytes: 1600,
        };
        let class = class(5, handle(1), handle(16), rate);
        let Some(TcAttribute::Options(options)) = class.attributes.last() else {
            panic!("no options");
        };
        let expected = DefaultNla::new(CEIL64, 12_500_000_000_u64.to_ne_bytes().to_vec());
        assert_eq!(options[1..], [TcOption::Other(expected)]);
    }

    /// What the kernel answers about the root above, and about the default of a device.
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
        assert_eq!(
            (default.kind.as_str(), default.handle),
            ("noqueue", TcHandle::UNSPEC)
        );
        assert!(Discipline::parse(&bytes(entry)[..12]).is_err());
    }
}
