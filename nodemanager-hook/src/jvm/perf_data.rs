//! The counters that HotSpot publishes for tools: the bytes of an hsperfdata file.
//!
//! [`parse`] reads all names once and keeps the offsets of the heap's counters. [`PerfData::heap`]
//! then reads a later copy of the file without the names.

mod entries;
mod heap;

use self::{
    entries::{Entries, Entry},
    heap::HeapCounters,
};

/// The longest text that is kept; texts go to logs.
const MOST_TEXT_BYTES: usize = 100;

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

/// What a heap holds, by the JVM's own counters.
///
/// The JVM updates the counters at the end of a collection. Between collections, `used_bytes` of G1
/// and ZGC is the value after the last one. Garbage counts as used until it is collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heap {
    /// Live objects and uncollected garbage.
    pub used_bytes: u64,
    /// Memory that the heap has committed; it need not be resident.
    pub committed_bytes: u64,
    /// The bound set by `-Xmx`.
    pub max_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfData {
    /// The feature release: 8, 11, 17, …
    pub java_version: u32,
    /// For logs; printable ASCII, at most 100 bytes.
    pub vm_version: String,
    pub collector: Collector,
    /// False if the JVM was started with `-XX:+DisableAttachMechanism`.
    pub accepts_attach: bool,
    heap: HeapCounters,
}

/// Parses the bytes of an hsperfdata file. No bytes make it panic or read outside of them.
/// [`PerfDataError::NotReady`] is temporary.
pub fn parse(bytes: &[u8]) -> Result<PerfData, PerfDataError> {
    let entries = Entries::new(bytes)?;
    let mut heap = HeapCounters::new(entries.shape());
    let (mut java_version, mut vm_version, mut accepts_attach) = (None, None, None);
    let mut collector = Collector::Other;
    for entry in entries {
        let entry = entry?;
        match entry.name {
            b"java.property.java.vm.specification.version" => {
                java_version = feature_release(entry.text);
            }
            b"java.property.java.vm.version" => vm_version = Some(printable(entry.text)),
            b"sun.rt.jvmCapabilities" => accepts_attach = Some(entry.text.first() == Some(&b'1')),
            name if is_collector_name(name) => collector = named_by(entry.text),
            _ => heap.take(&entry),
        }
    }
    let missing = |name| PerfDataError::Missing { name };
    Ok(PerfData {
        java_version: java_version.ok_or(missing("java.property.java.vm.specification.version"))?,
        vm_version: vm_version.ok_or(missing("java.property.java.vm.version"))?,
        collector,
        accepts_attach: accepts_attach.ok_or(missing("sun.rt.jvmCapabilities"))?,
        heap: heap.complete(collector)?,
    })
}

impl PerfData {
    /// The heap in a later copy of the parsed file. After [`PerfDataError::Changed`] the file must
    /// be parsed anew.
    pub fn heap(&self, bytes: &[u8]) -> Result<Heap, PerfDataError> {
        self.heap.read(bytes)
    }

    /// How many bytes from the start of the file [`PerfData::heap`] needs.
    pub fn needed_bytes(&self) -> usize {
        self.heap.needed_bytes()
    }
}

/// `17`, or `1.8` for Java 8.
fn feature_release(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    text.strip_prefix("1.").unwrap_or(text).parse().ok()
}

fn printable(text: &[u8]) -> String {
    let kept = text.iter().take(MOST_TEXT_BYTES);
    kept.filter(|byte| byte.is_ascii_graphic() || **byte == b' ')
        .map(|byte| char::from(*byte))
        .collect()
}

/// `sun.gc.collector.N.name`: a collector has up to three of these.
fn is_collector_name(name: &[u8]) -> bool {
    name.strip_prefix(b"sun.gc.collector.")
        .and_then(|rest| rest.strip_suffix(b".name"))
        .is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

fn named_by(text: &[u8]) -> Collector {
    let known: [(&[u8], Collector); 6] = [
        (b"Serial ", Collector::Serial),
        (b"Parallel ", Collector::Parallel),
        (b"G1 ", Collector::G1),
        (b"Z ", Collector::Z),
        (b"ZGC ", Collector::Z),
        (b"Shenandoah ", Collector::Shenandoah),
    ];
    known
        .iter()
        .find(|(prefix, _)| text.starts_with(prefix))
        .map_or(Collector::Other, |(_, collector)| *collector)
}

#[cfg(test)]
mod tests;
