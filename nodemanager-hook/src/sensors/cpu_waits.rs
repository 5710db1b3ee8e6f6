//! How long threads waited for a core, by the kernel's taskstats over generic netlink.
//!
//! A container that shares the CPU is never throttled, however long it waits. `/proc/PID/schedstat` has the same
//! figure for one thread each, and a JVM has hundreds.

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NetlinkSerializable, NlasIterator, parse_u16,
};
use nix::{errno::Errno, sys::socket::SockProtocol};

use crate::netlink::Netlink;

/// Of the kernel's `linux/genetlink.h`: `GENL_ID_CTRL`, `CTRL_CMD_GETFAMILY`, `CTRL_ATTR_FAMILY_ID` and
/// `CTRL_ATTR_FAMILY_NAME`.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_NUMBER: u16 = 1;
const FAMILY_NAME: u16 = 2;
const HEADER_BYTES: usize = 4;

/// Of the kernel's `linux/taskstats.h`: `TASKSTATS_CMD_GET`, `TASKSTATS_CMD_ATTR_TGID`, `TASKSTATS_TYPE_AGGR_TGID`
/// and `TASKSTATS_TYPE_STATS`.
const TASKSTATS: &[u8] = b"TASKSTATS\0";
const GET: u8 = 1;
const OF_PROCESS: u16 = 2;
const PROCESS_AND_STATS: u16 = 5;
const STATS: u16 = 3;
/// Where `struct taskstats` has `cpu_count` and `cpu_delay_total`, in each of its versions.
const CPU_COUNT_AT: usize = 16;
const CPU_DELAY_AT: usize = 24;

/// A socket to ask the kernel by.
#[derive(Debug)]
pub struct CpuWaits {
    netlink: Netlink,
    taskstats: u16,
}

/// One generic netlink message with one attribute.
struct Question {
    family: u16,
    command: u8,
    attribute: DefaultNla,
}

impl CpuWaits {
    /// # Errors
    /// A kernel without taskstats, or one that does not count waits; no right to ask (`CAP_NET_ADMIN`).
    pub fn open() -> io::Result<Self> {
        let mut netlink = Netlink::open(SockProtocol::NetlinkGeneric)?;
        let attribute = DefaultNla::new(FAMILY_NAME, TASKSTATS.to_vec());
        let question = Question { family: CONTROLLER, command: GET_FAMILY, attribute };
        let answer = netlink.get(question)?.map(|answer| answer.0).unwrap_or_default();
        let number = attribute_of(&answer, HEADER_BYTES, FAMILY_NUMBER)?;
        let taskstats = number.and_then(|number| parse_u16(&number).ok());
        let taskstats = taskstats.ok_or_else(|| io::Error::other("taskstats has no number"))?;
        let mut waits = Self { netlink, taskstats };
        let own = waits.stats_of(std::process::id())?;
        // This process has been given a core at least once.
        if own.and_then(|stats| number_at(&stats, CPU_COUNT_AT)).is_none_or(|count| count == 0) {
            return Err(io::Error::other("the kernel does not count waits for a core"));
        }
        Ok(waits)
    }

    /// Nanoseconds in which a thread of the process was ready to run and had no core, summed over its threads
    /// since the start of each, those that ended included; `None` if the process is gone.
    pub fn nanoseconds_of(&mut self, pid: u32) -> io::Result<Option<u64>> {
        let stats = self.stats_of(pid)?;
        Ok(stats.and_then(|stats| number_at(&stats, CPU_DELAY_AT)))
    }

    /// The bytes of `struct taskstats`.
    fn stats_of(&mut self, pid: u32) -> io::Result<Option<Vec<u8>>> {
        let attribute = DefaultNla::new(OF_PROCESS, pid.to_ne_bytes().to_vec());
        let question = Question { family: self.taskstats, command: GET, attribute };
        let answer = match self.netlink.get(question) {
            Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => return Ok(None),
            answer => answer?.map(|answer| answer.0).unwrap_or_default(),
        };
        let around = attribute_of(&answer, HEADER_BYTES, PROCESS_AND_STATS)?;
        around.map_or(Ok(None), |around| attribute_of(&around, 0, STATS))
    }
}

impl NetlinkSerializable for Question {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        HEADER_BYTES + self.attribute.buffer_len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        let (header, attribute) = buffer.split_at_mut(HEADER_BYTES);
        // The command, the version of its family, and two bytes without a meaning.
        header.copy_from_slice(&[self.command, 1, 0, 0]);
        self.attribute.emit(attribute);
    }
}

/// The first attribute of this kind from byte `at` on.
fn attribute_of(message: &[u8], at: usize, kind: u16) -> io::Result<Option<Vec<u8>>> {
    let malformed = |error: DecodeError| io::Error::new(io::ErrorKind::InvalidData, error);
    for attribute in NlasIterator::new(message.get(at..).unwrap_or_default()) {
        let attribute = attribute.map_err(malformed)?;
        if attribute.kind() == kind {
            return Ok(Some(attribute.value().to_vec()));
        }
    }
    Ok(None)
}

fn number_at(stats: &[u8], at: usize) -> Option<u64> {
    let bytes = stats.get(at..at + size_of::<u64>())?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nix::unistd::geteuid;

    use super::*;

    #[test]
    fn a_process_that_is_gone_has_no_waits() {
        if !geteuid().is_root() {
            return; // The kernel tells nobody else.
        }
        let mut waits = CpuWaits::open().unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(waits.nanoseconds_of(child.id()).unwrap(), None);
    }

    #[test]
    fn an_answer_that_is_cut_off_is_no_panic() {
        for length in 0..=24 {
            let _ = attribute_of(&vec![7; length], HEADER_BYTES, STATS);
            assert_eq!(number_at(&vec![7; length], CPU_COUNT_AT).is_some(), length == 24);
        }
    }
}
