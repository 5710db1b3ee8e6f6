//! The open sample of a container or the node, and the closed one.

use std::time::Instant;

use elastane_protocol::{Sample, Usage};

use crate::sensors::{Counted, HeldMemory, Reading};

#[derive(Debug)]
pub struct Window {
    since: Instant,
    at: Instant,
    counted: Counted,
    /// Of the reading with the most resident memory.
    held: HeldMemory,
}

/// A closed sample. Its age is known only when a report is made.
#[derive(Debug, Clone, Copy)]
pub struct Closed {
    pub sequence: u64,
    pub ended: Instant,
    length_ms: u32,
    pub usage: Usage,
}

impl Window {
    pub fn new(reading: &Reading) -> Self {
        Self {
            since: reading.since,
            at: reading.at,
            counted: reading.counted,
            held: reading.held,
        }
    }

    pub fn add(&mut self, reading: &Reading) {
        self.counted.add(reading.counted);
        if reading.held.resident_bytes > self.held.resident_bytes {
            self.held = reading.held;
        }
        self.at = reading.at;
    }

    /// `None` if no time passed between the first and the last reading.
    pub fn close(&self, sequence: u64) -> Option<Closed> {
        let length = self.at.saturating_duration_since(self.since);
        let length_ms = u32::try_from(length.as_millis()).unwrap_or(u32::MAX);
        if length_ms == 0 {
            return None;
        }
        let per_s = |count: u64| count as f64 / length.as_secs_f64();
        let cores = |nanoseconds: u64| nanoseconds as f64 / 1e9 / length.as_secs_f64();
        Some(Closed {
            sequence,
            ended: self.at,
            length_ms,
            usage: Usage {
                cpu_cores: cores(self.counted.cpu_nanoseconds) as f32,
                cpu_throttled: cores(self.counted.throttled_nanoseconds).min(1.0) as f32,
                memory_bytes: self.held.resident_bytes,
                anonymous_bytes: self.held.anonymous_bytes,
                file_bytes: self.held.file_bytes,
                heap_used_bytes: self.held.heap.used_bytes,
                heap_committed_bytes: self.held.heap.committed_bytes,
                disk_read_bytes_per_s: per_s(self.counted.disk_read_bytes) as u64,
                disk_write_bytes_per_s: per_s(self.counted.disk_written_bytes) as u64,
                network_in_bytes_per_s: per_s(self.counted.network_received_bytes) as u64,
                network_out_bytes_per_s: per_s(self.counted.network_sent_bytes) as u64,
            },
        })
    }
}

impl Closed {
    /// The sample as reported at `now`.
    pub fn at(&self, now: Instant) -> Sample {
        let age = now.saturating_duration_since(self.ended).as_millis();
        Sample {
            sequence: self.sequence,
            age_ms: u32::try_from(age).unwrap_or(u32::MAX),
            length_ms: self.length_ms,
            usage: self.usage,
        }
    }
}
