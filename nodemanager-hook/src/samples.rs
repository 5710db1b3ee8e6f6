//! Readings are closed into samples, which are kept until the core has acknowledged them.

mod closed;

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use elastane_protocol::Usage;

use self::closed::ClosedSample;
use crate::{
    container_id::ContainerId,
    sensors::{Counted, Reading},
};

/// A sample is dropped after waiting this long for its acknowledgement.
const KEPT: Duration = Duration::from_secs(120);

/// The samples of all containers, and the newest sample of the node.
#[derive(Debug, Default)]
pub struct Samples {
    sequence: u64,
    open_of_node: Option<Reading>,
    newest_of_node: Usage,
    /// What each container used since the newest closed sample.
    open: BTreeMap<ContainerId, Reading>,
    closed: BTreeMap<ContainerId, VecDeque<ClosedSample>>,
    newest_by_container: BTreeMap<ContainerId, Usage>,
    dropped: u64,
}

impl Samples {
    /// Adds a reading of a container to its open sample.
    pub fn add(&mut self, container: &ContainerId, reading: &Reading) {
        let open = self.open.entry(container.clone());
        open.and_modify(|open| extend(open, reading)).or_insert(*reading);
    }

    /// Adds to a container's open sample how long its threads waited for a core.
    pub fn add_waited(&mut self, container: &ContainerId, nanoseconds: u64) {
        if let Some(open) = self.open.get_mut(container) {
            open.counted.add(Counted { waited_nanoseconds: nanoseconds, ..Counted::default() });
        }
    }

    pub fn add_node(&mut self, reading: &Reading) {
        match &mut self.open_of_node {
            Some(open) => extend(open, reading),
            none => *none = Some(*reading),
        }
    }

    /// Closes all open samples, and drops samples that were not acknowledged in time.
    pub fn close(&mut self, now: Instant) {
        self.sequence += 1;
        self.newest_by_container.clear();
        let node = self.open_of_node.take();
        if let Some(sample) = node.and_then(|node| ClosedSample::of(&node, self.sequence)) {
            self.newest_of_node = sample.usage;
        }
        for (container, open) in std::mem::take(&mut self.open) {
            let Some(sample) = ClosedSample::of(&open, self.sequence) else {
                continue;
            };
            self.newest_by_container.insert(container.clone(), sample.usage);
            self.closed.entry(container).or_default().push_back(sample);
        }
        self.drop_old(now);
    }

    pub fn acknowledge(&mut self, sequence: u64) {
        self.remove(|sample| sample.sequence <= sequence);
    }

    /// The number of the newest closed sample; 0 before the first.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Usage of all containers in the newest sample.
    pub fn newest(&self) -> Usage {
        let all = self.newest_by_container.values().copied();
        all.fold(Usage::default(), |sum, usage| {
            combine(sum, usage, |sum, more| sum + more, u64::saturating_add)
        })
    }

    /// Usage of the whole node in the newest sample.
    pub fn newest_of_node(&self) -> Usage {
        self.newest_of_node
    }

    /// Usage of a container in the newest sample; `None` if it did not run then.
    pub fn newest_of(&self, container: &ContainerId) -> Option<Usage> {
        self.newest_by_container.get(container).copied()
    }

    /// The number of samples dropped without an acknowledgement.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The samples without an acknowledgement, oldest first within a container.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (&ContainerId, &VecDeque<ClosedSample>)> {
        self.closed.iter()
    }

    fn drop_old(&mut self, now: Instant) {
        let dropped = self.remove(|sample| now.saturating_duration_since(sample.ended) > KEPT);
        if dropped > 0 && self.dropped == 0 {
            log::warn!(
                "dropping samples that were not acknowledged within {} s (logged once)",
                KEPT.as_secs()
            );
        }
        self.dropped += dropped;
    }

    fn remove(&mut self, done: impl Fn(&ClosedSample) -> bool) -> u64 {
        let mut removed = 0;
        self.closed.retain(|_, samples| {
            while samples.front().is_some_and(&done) {
                samples.pop_front();
                removed += 1;
            }
            !samples.is_empty()
        });
        removed
    }
}

/// Adds a reading to an open sample, which keeps the memory of the reading with the most resident
/// memory.
fn extend(open: &mut Reading, reading: &Reading) {
    open.counted.add(reading.counted);
    if reading.held.resident_bytes > open.held.resident_bytes {
        open.held = reading.held;
    }
    open.at = reading.at;
}

/// Combines two usages by field. `cpu_throttled` is a share of time, which does not add up: 0.
pub fn combine(
    one: Usage,
    other: Usage,
    cores: fn(f32, f32) -> f32,
    count: fn(u64, u64) -> u64,
) -> Usage {
    let of = |field: fn(Usage) -> u64| count(field(one), field(other));
    Usage {
        cpu_cores: cores(one.cpu_cores, other.cpu_cores),
        cpu_throttled: 0.0,
        cpu_waited_cores: cores(one.cpu_waited_cores, other.cpu_waited_cores),
        memory_bytes: of(|usage| usage.memory_bytes),
        anonymous_bytes: of(|usage| usage.anonymous_bytes),
        file_bytes: of(|usage| usage.file_bytes),
        heap_used_bytes: of(|usage| usage.heap_used_bytes),
        heap_committed_bytes: of(|usage| usage.heap_committed_bytes),
        network_in_bytes_per_s: of(|usage| usage.network_in_bytes_per_s),
        network_out_bytes_per_s: of(|usage| usage.network_out_bytes_per_s),
        disk_read_bytes_per_s: of(|usage| usage.disk_read_bytes_per_s),
        disk_write_bytes_per_s: of(|usage| usage.disk_write_bytes_per_s),
    }
}

#[cfg(test)]
mod tests {
    use elastane_protocol::Sample;

    use super::*;
    use crate::sensors::{HeldHeap, HeldMemory};

    fn id(number: u32) -> ContainerId {
        format!("container_1_1_1_{number}").parse().unwrap()
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn reading(since: Instant, at: Instant, cores: f64, memory_bytes: u64) -> Reading {
        let length = at.duration_since(since).as_nanos() as f64;
        Reading {
            since,
            at,
            counted: Counted {
                cpu_nanoseconds: (length * cores) as u64,
                throttled_nanoseconds: (length / 4.0) as u64,
                waited_nanoseconds: 0,
                disk_read_bytes: 1000,
                disk_written_bytes: 500,
                network_received_bytes: 3000,
                network_sent_bytes: 200,
            },
            held: HeldMemory {
                resident_bytes: memory_bytes,
                anonymous_bytes: memory_bytes / 2,
                file_bytes: 1,
                heap: HeldHeap { used_bytes: memory_bytes / 5, committed_bytes: memory_bytes / 3 },
            },
        }
    }

    fn all(samples: &Samples, now: Instant) -> Vec<(String, Vec<Sample>)> {
        samples
            .unacknowledged()
            .map(|(container, closed)| {
                let samples = closed.iter().map(|sample| sample.at(now)).collect();
                (container.to_string(), samples)
            })
            .collect()
    }

    #[test]
    fn three_readings_become_the_mean_and_the_largest_memory() {
        let start = Instant::now();
        let mut samples = Samples::default();
        for (second, cores, memory) in [(0, 0.5, 10), (1, 1.0, 30), (2, 1.5, 20)] {
            let since = start + seconds(second);
            samples.add(&id(1), &reading(since, since + seconds(1), cores, memory));
        }
        samples.close(start + seconds(3));
        let reported = all(&samples, start + seconds(5));
        let sample = reported[0].1[0];
        assert_eq!((sample.sequence, sample.age_ms, sample.length_ms), (1, 2000, 3000));
        assert!((sample.usage.cpu_cores - 1.0).abs() < 1e-6);
        let usage = sample.usage;
        assert_eq!((usage.memory_bytes, usage.anonymous_bytes), (30, 15));
        let heap = (usage.heap_used_bytes, usage.heap_committed_bytes);
        assert_eq!(heap, (6, 10));
        assert_eq!(usage.disk_read_bytes_per_s, 1000);
        assert_eq!(usage.disk_write_bytes_per_s, 500);
        assert_eq!(usage.network_in_bytes_per_s, 3000);
        assert_eq!(usage.network_out_bytes_per_s, 200);
        assert!((usage.cpu_throttled - 0.25).abs() < 1e-6);
    }

    #[test]
    fn memory_between_two_readings_counts_and_takes_no_time() {
        let start = Instant::now();
        let mut samples = Samples::default();
        samples.add(&id(1), &reading(start, start, 0.0, 30));
        samples.add(&id(2), &reading(start, start, 0.0, 30));
        samples.add(&id(1), &reading(start, start + seconds(3), 1.0, 20));
        samples.close(start + seconds(3));
        let reported = all(&samples, start + seconds(3));
        // The other one ended before its counters were read.
        assert_eq!(reported.len(), 1);
        let sample = reported[0].1[0];
        assert_eq!((sample.length_ms, sample.usage.memory_bytes), (3000, 30));
        assert!((sample.usage.cpu_cores - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_container_that_ran_for_a_part_of_a_sample_is_measured_over_that_part() {
        let start = Instant::now();
        let mut samples = Samples::default();
        let whole = reading(start, start + seconds(3), 0.5, 10);
        let part = reading(start + seconds(2), start + seconds(3), 1.0, 5);
        samples.add(&id(1), &whole);
        samples.add(&id(2), &part);
        samples.close(start + seconds(3));
        let reported = all(&samples, start + seconds(3));
        assert_eq!(reported[1].1[0].length_ms, 1000);
        assert!((reported[1].1[0].usage.cpu_cores - 1.0).abs() < 1e-6);
        assert!((samples.newest().cpu_cores - 1.5).abs() < 1e-6);
        assert_eq!(samples.newest().memory_bytes, 15);
    }

    #[test]
    fn usage_of_all_containers_is_the_sum() {
        let start = Instant::now();
        let mut samples = Samples::default();
        for number in 1..=2 {
            samples.add(&id(number), &reading(start, start + seconds(1), 0.5, 10));
        }
        samples.close(start + seconds(1));
        let each = samples.newest_of(&id(1)).unwrap();
        let sum = samples.newest();
        assert_eq!(sum.memory_bytes, 2 * each.memory_bytes);
        assert_eq!(sum.heap_used_bytes, 2 * each.heap_used_bytes);
        assert_eq!(sum.network_bytes_per_s(), 2 * each.network_bytes_per_s());
        assert_eq!(sum.disk_bytes_per_s(), 2 * each.disk_bytes_per_s());
        assert!(each.network_bytes_per_s() > 0 && each.disk_bytes_per_s() > 0);
    }

    #[test]
    fn the_node_has_a_sample_of_its_own() {
        let start = Instant::now();
        let mut samples = Samples::default();
        samples.add_node(&reading(start, start + seconds(1), 2.0, 40));
        samples.close(start + seconds(1));
        let node = samples.newest_of_node();
        assert!((node.cpu_cores - 2.0).abs() < 1e-6);
        assert_eq!((node.memory_bytes, samples.newest().memory_bytes), (40, 0));
    }

    #[test]
    fn what_waited_is_added_to_the_open_sample_and_to_the_sum_of_all() {
        let start = Instant::now();
        let mut samples = Samples::default();
        for number in 1..=2 {
            samples.add(&id(number), &reading(start, start + seconds(3), 0.5, 10));
            samples.add_waited(&id(number), 600_000_000);
            samples.add_waited(&id(number), 300_000_000);
        }
        samples.add_waited(&id(3), 1);
        samples.close(start + seconds(3));
        let waited = samples.newest_of(&id(1)).unwrap().cpu_waited_cores;
        assert!((waited - 0.3).abs() < 1e-6, "{waited}");
        assert!((samples.newest().cpu_waited_cores - 0.6).abs() < 1e-6);
        assert!(samples.newest_of(&id(3)).is_none(), "not read in this sample");
    }

    #[test]
    fn only_acknowledged_samples_are_removed() {
        let start = Instant::now();
        let mut samples = Samples::default();
        for second in 0..4 {
            let since = start + seconds(second);
            samples.add(&id(1), &reading(since, since + seconds(1), 1.0, 1));
            samples.close(since + seconds(1));
        }
        samples.acknowledge(2);
        let reported = all(&samples, start);
        let sequences: Vec<u64> = reported[0].1.iter().map(|sample| sample.sequence).collect();
        assert_eq!(sequences, [3, 4]);
        samples.acknowledge(4);
        assert!(all(&samples, start).is_empty());
    }

    #[test]
    fn samples_without_an_acknowledgement_are_dropped_after_two_minutes_and_counted() {
        let start = Instant::now();
        let mut samples = Samples::default();
        for second in 0..130 {
            let since = start + seconds(second);
            samples.add(&id(1), &reading(since, since + seconds(1), 1.0, 1));
            samples.close(since + seconds(1));
        }
        assert_eq!(samples.dropped(), 9);
        let reported = all(&samples, start + seconds(130));
        assert_eq!(reported[0].1.len(), 121);
        assert_eq!(reported[0].1[0].sequence, 10);
        assert_eq!(reported[0].1[0].age_ms, 120_000);
    }

    #[test]
    fn a_container_without_elapsed_time_has_no_sample() {
        let now = Instant::now();
        let mut samples = Samples::default();
        samples.add(&id(1), &reading(now, now, 1.0, 1));
        samples.close(now);
        assert!(all(&samples, now).is_empty());
        assert_eq!(samples.sequence(), 1);
    }
}
