//! The two BPF programs of a group, one for received and one for sent packets.
//!
//! Both find the group's [`CounterWords`] and [`LimitWords`] in two maps that all groups share. The
//! programs write one map and the agent writes the other, so that neither overwrites the other's
//! values.

use super::instructions::{
    Condition::*, Helper, Instruction, Operation::*, Register::*, Width::*, add_atomically,
    calculate, call, exit_with, load, load_map, skip_if, store, store_number,
};

/// The counters of one group: one word at each of the places below.
pub type CounterWords = [u64; COUNTER_WORDS];
pub const COUNTER_WORDS: usize = 4;
pub const RECEIVED_BYTES: usize = 0;
pub const SENT_BYTES: usize = 1;
/// Packets that the receive limit dropped.
pub const DROPPED_PACKETS: usize = 2;
/// Monotonic time until which the received bytes use up the receive rate.
const PAID_UNTIL_NS: usize = 3;

/// The agent's settings for one group: one word at each of the places below.
pub type LimitWords = [u64; LIMIT_WORDS];
pub const LIMIT_WORDS: usize = 2;
/// Time that each received MiB takes at the limit; 0: no limit.
pub const RECEIVE_NS_PER_MIB: usize = 0;
/// Priority of sent packets; 0: each socket's own.
pub const SEND_PRIORITY: usize = 1;

/// The burst of the receive limit, in time at its rate. A smaller bucket drops whole trains of
/// segments, and a TCP sender falls far below the rate.
const BURST_NS: i32 = 250_000_000;

/// Packets up to this size pass an empty bucket: dropping acknowledgements and handshakes would
/// slow down what the group sends and save next to nothing.
const SMALL_PACKET_BYTES: i32 = 128;

// Offsets in the kernel's `struct __sk_buff`.
const PACKET_LENGTH: i16 = 0;
const PACKET_PRIORITY: i16 = 32;

const PASS: i32 = 1;
const DROP: i32 = 0;

const MIB_SHIFT: i32 = 20;
/// Stack offset of the key of both maps.
const KEY: i16 = -4;

/// Which packets a program sees, by the kernel's number of the group's attach point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// Packets for sockets of the group.
    Receive = 0,
    /// Packets from sockets of the group.
    Send = 1,
}

impl Direction {
    pub const ALL: [Self; 2] = [Self::Receive, Self::Send];

    pub fn name(self) -> [u8; 16] {
        match self {
            Self::Receive => *b"elastane_in\0\0\0\0\0",
            Self::Send => *b"elastane_out\0\0\0\0",
        }
    }

    /// The program of a group with the key `slot` in both maps.
    pub fn program(self, slot: u32, counters: i32, limits: i32) -> Vec<Instruction> {
        match self {
            Self::Receive => receive(slot, counters, limits),
            Self::Send => send(slot, counters, limits),
        }
    }
}

const fn place(word: usize) -> i16 {
    (word * size_of::<u64>()) as i16
}

fn receive(slot: u32, counters: i32, limits: i32) -> Vec<Instruction> {
    let drop = [
        &[calculate(Move, R1, 1), add_atomically(R7, place(DROPPED_PACKETS), R1)],
        &exit_with(DROP)[..],
    ]
    .concat();
    let pay = [
        calculate(Multiply, R9, R8),
        calculate(ShiftRight, R9, MIB_SHIFT),
        add_atomically(R7, place(PAID_UNTIL_NS), R9),
    ];
    let small_passes = skip_if(R8, LessOrEqual, SMALL_PACKET_BYTES, drop.len() + pay.len());
    let without_debt = [store(Eight, R7, place(PAID_UNTIL_NS), R0), calculate(Move, R1, R0)];
    // The bucket is one number: the time until which all received bytes are paid for. An idle
    // group saves up nothing beyond now; a busy group may owe up to the burst.
    let limit = [
        &[
            call(Helper::MonotonicNs),
            load(Eight, R1, R7, place(PAID_UNTIL_NS)),
            skip_if(R1, GreaterOrEqual, R0, without_debt.len()),
        ],
        &without_debt[..],
        &[calculate(Add, R0, BURST_NS), skip_if(R1, LessOrEqual, R0, 1 + drop.len()), small_passes],
        &drop,
        &pay,
    ]
    .concat();
    [
        &begin(slot, counters)[..],
        &look_up(limits),
        &[load(Eight, R9, R0, place(RECEIVE_NS_PER_MIB)), skip_if(R9, Equal, 0, limit.len())],
        &limit,
        &[add_atomically(R7, place(RECEIVED_BYTES), R8)],
        &exit_with(PASS),
    ]
    .concat()
}

fn send(slot: u32, counters: i32, limits: i32) -> Vec<Instruction> {
    [
        &begin(slot, counters)[..],
        &[add_atomically(R7, place(SENT_BYTES), R8)],
        &look_up(limits),
        &[
            load(Eight, R9, R0, place(SEND_PRIORITY)),
            skip_if(R9, Equal, 0, 1),
            store(Four, R6, PACKET_PRIORITY, R9),
        ],
        &exit_with(PASS),
    ]
    .concat()
}

/// Sets `R6` to the packet, `R7` to the counters and `R8` to the packet's length.
fn begin(slot: u32, counters: i32) -> Vec<Instruction> {
    [
        &[calculate(Move, R6, R1), store_number(Four, Frame, KEY, slot.cast_signed())],
        &look_up(counters)[..],
        &[calculate(Move, R7, R0), load(Four, R8, R6, PACKET_LENGTH)],
    ]
    .concat()
}

/// Sets `R0` to the group's value in a map. The verifier demands the check for a missing value.
fn look_up(map: i32) -> Vec<Instruction> {
    let missing = exit_with(PASS);
    [
        &load_map(R1, map)[..],
        &[
            calculate(Move, R2, Frame),
            calculate(Add, R2, i32::from(KEY)),
            call(Helper::MapLookup),
            skip_if(R0, NotEqual, 0, missing.len()),
        ],
        &missing,
    ]
    .concat()
}

/// The word [`RECEIVE_NS_PER_MIB`] for a rate. Rates below 1 KiB/s count as 1 KiB/s: with a longer
/// time the product with a packet's length could overflow 64 bits.
pub fn receive_ns_per_mib(bytes_per_s: u64) -> u64 {
    const NS_PER_S: u64 = 1_000_000_000;
    // At least 1, since 0 means no limit.
    ((NS_PER_S << MIB_SHIFT) / bytes_per_s.max(1024)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_are_short() {
        for direction in Direction::ALL {
            let program = direction.program(7, 3, 4);
            assert!(program.len() <= 50, "{}", program.len());
        }
    }

    #[test]
    fn a_rate_is_a_time_for_each_mib() {
        assert_eq!(receive_ns_per_mib(1 << 20), 1_000_000_000);
        assert_eq!(receive_ns_per_mib(u64::MAX), 1);
        let longest_packet_bytes = 512 * 1024;
        assert!(receive_ns_per_mib(0).checked_mul(longest_packet_bytes).is_some());
    }
}
