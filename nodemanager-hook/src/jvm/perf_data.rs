//! The counters that HotSpot publishes for tools: the bytes of an hsperfdata file.
//!
//! [`parse`] reads all names once and keeps the offsets of the heap's counters. [`PerfData::heap`]
//! then reads a later copy of the file without the names.

mod entries;

use self::entries::Header;
use crate::sensors::HeldHeap;

/// Why bytes are not the hsperfdata file of a running JVM.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PerfDataError {
    #[error("{found} bytes: the header alone has {}", entries::HEADER_BYTES)]
    Short { found: usize },
    #[error("the file does not begin with 0xcafec0c0")]
    Magic,
    #[error("byte order {order}: only 0 and 1 are allowed")]
    ByteOrder { order: u8 },
    #[error("version {major}: only 2 is allowed")]
    Version { major: u8 },
    /// Temporary.
    #[error("the JVM has not written its counters yet")]
    NotReady,
    #[error("the entry at byte {at} is not within the file")]
    Entry { at: usize },
    #[error("counter {name} is missing")]
    Missing { name: &'static str },
    #[error("a counter of the heap is negative or the sum is too large")]
    Value,
    /// The JVM has added counters since the last [`parse`].
    #[error("the JVM has added counters")]
    Changed,
}

/// The garbage collector of a JVM, by the JVM's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collector {
    Serial,
    Parallel,
    G1,
    Z,
    Shenandoah,
    /// One that the agent does not know, CMS and Epsilon among them.
    Other,
}

/// Capacities are whole pages, but G1 of Java 17 counts 8 bytes too many for each space.
const CAPACITY_UNIT_BYTES: u64 = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfData {
    /// The feature release: 8, 11, 17, …
    pub java_version: u32,
    pub collector: Collector,
    /// False if the JVM was started with `-XX:+DisableAttachMechanism`.
    pub accepts_attach: bool,
    header: Header,
    /// Offsets of the counters whose sums are the heap's used and committed bytes.
    used: Vec<usize>,
    committed: Vec<usize>,
}

/// Parses the bytes of an hsperfdata file. No bytes make it panic or read outside of them.
/// [`PerfDataError::NotReady`] is temporary.
pub fn parse(bytes: &[u8]) -> Result<PerfData, PerfDataError> {
    let header = Header::read(bytes)?;
    let (mut java_version, mut accepts_attach) = (None, None);
    let mut collector = Collector::Other;
    let (mut used, mut committed) = (Vec::new(), Vec::new());
    for entry in header.entries(bytes) {
        let entry = entry?;
        match (entry.name, entry.number_at) {
            (b"java.property.java.vm.specification.version", _) => {
                java_version = feature_release(entry.text);
            }
            (b"sun.rt.jvmCapabilities", _) => accepts_attach = Some(entry.text.starts_with(b"1")),
            (name, None) if is_collector_name(name) => collector = named_by(entry.text),
            (name, Some(at)) => match counter_of_a_generation(name) {
                Some(b"capacity") => committed.push(at),
                Some(counter) if is_used_bytes(counter) => used.push(at),
                _ => {}
            },
            _ => {}
        }
    }
    let missing = |name| PerfDataError::Missing { name };
    let found = |offsets: Vec<usize>, name| {
        if offsets.is_empty() { Err(missing(name)) } else { Ok(offsets) }
    };
    Ok(PerfData {
        java_version: java_version.ok_or(missing("java.property.java.vm.specification.version"))?,
        collector,
        accepts_attach: accepts_attach.ok_or(missing("sun.rt.jvmCapabilities"))?,
        header,
        used: found(used, "sun.gc.generation.N.space.N.used")?,
        committed: found(committed, "sun.gc.generation.N.capacity")?,
    })
}

impl PerfData {
    /// The heap in a later copy of the parsed file. After [`PerfDataError::Changed`] the file must
    /// be parsed anew.
    ///
    /// The JVM updates these counters at the end of a collection. Between collections, the used
    /// bytes of G1 and ZGC are those after the last one. Garbage counts as used until it is
    /// collected.
    pub fn heap(&self, bytes: &[u8]) -> Result<HeldHeap, PerfDataError> {
        if Header::read(bytes)? != self.header {
            return Err(PerfDataError::Changed);
        }
        let committed_bytes = self.sum(bytes, &self.committed)?;
        Ok(HeldHeap {
            used_bytes: self.sum(bytes, &self.used)?,
            committed_bytes: committed_bytes - committed_bytes % CAPACITY_UNIT_BYTES,
        })
    }

    /// How many bytes from the start of the file [`PerfData::heap`] needs.
    pub fn needed_bytes(&self) -> usize {
        let last = self.used.iter().chain(&self.committed).max();
        last.map_or(0, |last| last + size_of::<i64>())
    }

    fn sum(&self, bytes: &[u8], offsets: &[usize]) -> Result<u64, PerfDataError> {
        offsets.iter().try_fold(0, |sum: u64, at| {
            let number = self.header.number(bytes, *at);
            let number = number.ok_or(PerfDataError::Entry { at: *at })?;
            let number = u64::try_from(number).map_err(|_| PerfDataError::Value)?;
            sum.checked_add(number).ok_or(PerfDataError::Value)
        })
    }
}

/// `sun.gc.generation.N.COUNTER`
fn counter_of_a_generation(name: &[u8]) -> Option<&[u8]> {
    let mut parts = name.strip_prefix(b"sun.gc.generation.")?.splitn(2, |byte| *byte == b'.');
    parts.nth(1)
}

/// `space.N.used`
fn is_used_bytes(counter: &[u8]) -> bool {
    counter.starts_with(b"space.") && counter.ends_with(b".used")
}

/// `sun.gc.collector.N.name`: a collector has up to three of these.
fn is_collector_name(name: &[u8]) -> bool {
    name.starts_with(b"sun.gc.collector.") && name.ends_with(b".name")
}

/// `17`, or `1.8` for Java 8.
fn feature_release(text: &[u8]) -> Option<u32> {
    let text = str::from_utf8(text).ok()?;
    text.strip_prefix("1.").unwrap_or(text).parse().ok()
}

fn named_by(text: &[u8]) -> Collector {
    match text.split(|byte| *byte == b' ').next() {
        Some(b"Serial") => Collector::Serial,
        Some(b"Parallel") => Collector::Parallel,
        Some(b"G1") => Collector::G1,
        Some(b"Z" | b"ZGC") => Collector::Z,
        Some(b"Shenandoah") => Collector::Shenandoah,
        _ => Collector::Other,
    }
}

#[cfg(test)]
mod tests;
