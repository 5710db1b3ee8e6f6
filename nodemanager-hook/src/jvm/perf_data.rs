//! The counters that HotSpot publishes for tools: the bytes of an hsperfdata file.
//!
//! [`parse`] reads all names once. What it finds keeps the places of the heap's counters, so that
//! [`PerfData::heap`] reads a later copy of the same file without them.

mod entries;
mod heap;

use self::{
    entries::{Entries, Entry},
    heap::HeapCounters,
};

/// The longest text that is kept of a counter; texts go to logs.
const MOST_TEXT_BYTES: usize = 100;

/// Bytes that are no hsperfdata of a running JVM.
#[allow(missing_docs)] // the messages say it
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PerfDataError {
    #[error("{found} bytes, and the header has {}", entries::HEADER_BYTES)]
    Short { found: usize },
    #[error("the file does not begin with 0xcafec0c0")]
    Magic,
    #[error("byte order {order}: allowed are 0 and 1")]
    ByteOrder { order: u8 },
    #[error("version {major}: allowed is 2")]
    Version { major: u8 },
    #[error("the JVM has not written its counters yet")]
    NotReady,
    #[error("the entry at byte {at} does not lie within the file")]
    Entry { at: usize },
    #[error("there is no counter {name}")]
    Missing { name: &'static str },
    #[error("a counter of the heap is negative or the sum is too large")]
    Value,
    /// The JVM has added counters since the file was parsed.
    #[error("the counters are not the ones that were parsed")]
    Changed,
}

/// The garbage collector of a JVM, by its own name.
#[allow(missing_docs)] // the names say it
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

/// What a heap holds, in bytes, by the JVM's own counters.
///
/// They change at the end of a collection: between two of them, G1's and ZGC's `used_bytes` is what
/// was used after the last one. Garbage counts as used until it is collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heap {
    /// Live objects, and garbage that was not collected yet.
    pub used_bytes: u64,
    /// What the heap has of the system's memory; not all of it need be resident.
    pub committed_bytes: u64,
    /// The bound that `-Xmx` set.
    pub max_bytes: u64,
}

/// What an hsperfdata file says of its JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfData {
    /// The feature release: 8, 11, 17, …
    pub java_version: u32,
    /// For people; printable ASCII, at most 100 bytes.
    pub vm_version: String,
    /// The one that it was started with.
    pub collector: Collector,
    /// False when the JVM was started with `-XX:+DisableAttachMechanism`.
    pub accepts_attach: bool,
    heap: HeapCounters,
}

/// Parses the bytes of an hsperfdata file. No bytes make it panic or read outside of them.
///
/// # Errors
/// What is wrong with the bytes; [`PerfDataError::NotReady`] passes by itself.
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
    /// The heap in a later copy of the file that was parsed.
    ///
    /// # Errors
    /// [`PerfDataError::Changed`] when it has to be parsed anew; values that cannot be.
    pub fn heap(&self, bytes: &[u8]) -> Result<Heap, PerfDataError> {
        self.heap.read(bytes)
    }

    /// How many bytes of the file [`PerfData::heap`] needs, from its start.
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

/// `sun.gc.collector.N.name`: a JVM has up to three of one collector.
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

impl Entry<'_> {
    fn name_text(&self) -> Option<&str> {
        std::str::from_utf8(self.name).ok()
    }
}

#[cfg(test)]
mod tests;
