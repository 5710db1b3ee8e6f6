//! A closed sample of a container or the node.

use std::time::Instant;

use elastane_protocol::{Sample, Usage};

use crate::sensors::Reading;

/// A closed sample. Its age is known only when a report is made.
#[derive(Debug, Clone, Copy)]
pub struct ClosedSample {
    pub sequence: u64,
    pub ended: Instant,
    length_ms: u32,
    pub usage: Usage,
}

impl ClosedSample {
    /// The mean usage of an open sample. `None` if no time passed between the first and the last
    /// reading.
    pub fn of(open: &Reading, sequence: u64) -> Option<Self> {
        let Reading { counted, held, .. } = open;
        let length = open.at.saturating_duration_since(open.since);
        let length_ms = u32::try_from(length.as_millis()).unwrap_or(u32::MAX);
        if length_ms == 0 {
            return None;
        }
        let per_s = |count: u64| (count as f64 / length.as_secs_f64()) as u64;
        let cores = |nanoseconds: u64| nanoseconds as f64 / 1e9 / length.as_secs_f64();
        Some(Self {
            sequence,
            ended: open.at,
            length_ms,
            usage: Usage {
                cpu_cores: cores(counted.cpu_nanoseconds) as f32,
                cpu_throttled: cores(counted.throttled_nanoseconds).min(1.0) as f32,
                cpu_waited_cores: cores(counted.waited_nanoseconds) as f32,
                memory_bytes: held.resident_bytes,
                anonymous_bytes: held.anonymous_bytes,
                file_bytes: held.file_bytes,
                heap_used_bytes: held.heap.used_bytes,
                heap_committed_bytes: held.heap.committed_bytes,
                disk_read_bytes_per_s: per_s(counted.disk_read_bytes),
                disk_write_bytes_per_s: per_s(counted.disk_written_bytes),
                network_in_bytes_per_s: per_s(counted.network_received_bytes),
                network_out_bytes_per_s: per_s(counted.network_sent_bytes),
            },
        })
    }

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
