//! Readings closed into samples, kept until the core has acknowledged them.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use elastane_protocol::{Sample, Usage};

use crate::{container_id::ContainerId, sensors::HeldMemory};

/// How long a sample waits for its acknowledgement before it is dropped.
const KEPT: Duration = Duration::from_secs(120);

/// What a container, or the node, used from one reading to the next.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The reading before.
    pub since: Instant,
    /// This reading.
    pub at: Instant,
    pub counted: Counted,
    /// At `at`.
    pub held: HeldMemory,
}

/// What was added from one reading to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    pub cpu_nanoseconds: u64,
    /// Time in which a cap held it back.
    pub throttled_nanoseconds: u64,
    pub disk_read_bytes: u64,
    pub disk_written_bytes: u64,
    pub network_received_bytes: u64,
    pub network_sent_bytes: u64,
}

/// Readings that are not closed yet.
#[derive(Debug)]
struct Window {
    since: Instant,
    at: Instant,
    counted: Counted,
    /// The reading with the most resident memory.
    held: HeldMemory,
}

/// A closed sample; its age is known only when a report is made.
#[derive(Debug, Clone, Copy)]
pub struct Closed {
    pub sequence: u64,
    ended: Instant,
    length_ms: u32,
    usage: Usage,
}

/// The samples of all containers, and the newest one of the node.
#[derive(Debug, Default)]
pub struct Samples {
    sequence: u64,
    open_of_node: Option<Window>,
    newest_of_node: Usage,
    open: BTreeMap<ContainerId, Window>,
    closed: BTreeMap<ContainerId, VecDeque<Closed>>,
    newest: Usage,
    newest_by_container: BTreeMap<ContainerId, Usage>,
    dropped: u64,
}

impl Samples {
    /// Adds a reading to the sample that is open.
    pub fn add(&mut self, container: &ContainerId, reading: &Reading) {
        match self.open.get_mut(container) {
            Some(window) => window.add(reading),
            None => {
                let window = Window::new(reading);
                self.open.insert(container.clone(), window);
            }
        }
    }

    /// Adds a reading of the whole node.
    pub fn add_node(&mut self, reading: &Reading) {
        match &mut self.open_of_node {
            Some(window) => window.add(reading),
            none => *none = Some(Window::new(reading)),
        }
    }

    /// Closes the open sample of every container and drops what nobody asked for in time.
    pub fn close(&mut self, now: Instant) {
        self.sequence += 1;
        self.newest = Usage::default();
        self.newest_by_container.clear();
        let node = self.open_of_node.take();
        if let Some(sample) = node.and_then(|node| node.close(self.sequence)) {
            self.newest_of_node = sample.usage;
        }
        for (container, window) in std::mem::take(&mut self.open) {
            let Some(sample) = window.close(self.sequence) else {
                continue;
            };
            add(&mut self.newest, &sample.usage);
            self.newest_by_container
                .insert(container.clone(), sample.usage);
            self.closed.entry(container).or_default().push_back(sample);
        }
        self.drop_old(now);
    }

    /// Forgets the samples up to `sequence`.
    pub fn acknowledge(&mut self, sequence: u64) {
        self.forget(|sample| sample.sequence <= sequence);
    }

    /// The number of the newest closed sample; 0 before the first.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What all containers used in the newest closed sample.
    pub fn newest(&self) -> Usage {
        self.newest
    }

    /// What the whole node used in the newest closed sample.
    pub fn newest_of_node(&self) -> Usage {
        self.newest_of_node
    }

    /// What a container used in the newest closed sample, if it ran then.
    pub fn newest_of(&self, container: &ContainerId) -> Option<Usage> {
        self.newest_by_container.get(container).copied()
    }

    /// Samples that were dropped before anybody acknowledged them.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What was not acknowledged yet, oldest first within a container.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (&ContainerId, &VecDeque<Closed>)> {
        self.closed.iter()
    }

    fn drop_old(&mut self, now: Instant) {
        let dropped = self.forget(|sample| now.saturating_duration_since(sample.ended) > KEPT);
        if dropped > 0 && self.dropped == 0 {
            log::warn!(
                "samples older than {} s are dropped: nobody acknowledged them (said once)",
                KEPT.as_secs()
            );
        }
        self.dropped += dropped;
    }

    fn forget(&mut self, done: impl Fn(&Closed) -> bool) -> u64 {
        let mut forgotten = 0;
        self.closed.retain(|_, samples| {
            while samples.front().is_some_and(&done) {
                samples.pop_front();
                forgotten += 1;
            }
            !samples.is_empty()
        });
        forgotten
    }
}

impl Window {
    fn new(reading: &Reading) -> Self {
        Self {
            since: reading.since,
            at: reading.at,
            counted: reading.counted,
            held: reading.held,
        }
    }

    fn add(&mut self, reading: &Reading) {
        let Counted {
            cpu_nanoseconds,
            throttled_nanoseconds,
            disk_read_bytes,
            disk_written_bytes,
            network_received_bytes,
            network_sent_bytes,
        } = &mut self.counted;
        let new = reading.counted;
        for (sum, more) in [
            (cpu_nanoseconds, new.cpu_nanoseconds),
            (throttled_nanoseconds, new.throttled_nanoseconds),
            (disk_read_bytes, new.disk_read_bytes),
            (disk_written_bytes, new.disk_written_bytes),
            (network_received_bytes, new.network_received_bytes),
            (network_sent_bytes, new.network_sent_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
        if reading.held.resident_bytes > self.held.resident_bytes {
            self.held = reading.held;
        }
        self.at = reading.at;
    }

    /// Nothing when no time passed between the first and the last reading.
    fn close(&self, sequence: u64) -> Option<Closed> {
        let length = self.at.saturating_duration_since(self.since);
        let length_ms = u32::try_from(length.as_millis()).unwrap_or(u32::MAX);
        if length_ms == 0 {
            return None;
        }
        let seconds = length.as_secs_f64();
        Some(Closed {
            sequence,
            ended: self.at,
            length_ms,
            usage: Usage {
                cpu_cores: (self.counted.cpu_nanoseconds as f64 / 1e9 / seconds) as f32,
                cpu_throttled: (self.counted.throttled_nanoseconds as f64 / 1e9 / seconds).min(1.0)
                    as f32,
                memory_bytes: self.held.resident_bytes,
                anonymous_bytes: self.held.anonymous_bytes,
                file_bytes: self.held.file_bytes,
                heap_used_bytes: self.held.heap.used_bytes,
                heap_committed_bytes: self.held.heap.committed_bytes,
                disk_read_bytes_per_s: (self.counted.disk_read_bytes as f64 / seconds) as u64,
                disk_write_bytes_per_s: (self.counted.disk_written_bytes as f64 / seconds) as u64,
                network_in_bytes_per_s: (self.counted.network_received_bytes as f64 / seconds)
                    as u64,
                network_out_bytes_per_s: (self.counted.network_sent_bytes as f64 / seconds) as u64,
            },
        })
    }
}

impl Closed {
    /// The sample as it is reported at `now`.
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

/// Shares of a time do not add up to a sum, and so `cpu_throttled` stays 0.
fn add(sum: &mut Usage, usage: &Usage) {
    let Usage {
        cpu_cores,
        cpu_throttled: _,
        memory_bytes,
        anonymous_bytes,
        file_bytes,
        heap_used_bytes,
        heap_committed_bytes,
        network_in_bytes_per_s,
        network_out_bytes_per_s,
        disk_read_bytes_per_s,
        disk_write_bytes_per_s,
    } = sum;
    *cpu_cores += usage.cpu_cores;
    for (sum, more) in [
        (memory_bytes, usage.memory_bytes),
        (anonymous_bytes, usage.anonymous_bytes),
        (file_bytes, usage.file_bytes),
        (heap_used_bytes, usage.heap_used_bytes),
        (heap_committed_bytes, usage.heap_committed_bytes),
        (network_in_bytes_per_s, usage.network_in_bytes_per_s),
        (network_out_bytes_per_s, usage.network_out_bytes_per_s),
        (disk_read_bytes_per_s, usage.disk_read_bytes_per_s),
        (disk_write_bytes_per_s, usage.disk_write_bytes_per_s),
    ] {
        *sum = sum.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::HeldHeap;

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
                disk_read_bytes: 1000,
                disk_written_bytes: 500,
                network_received_bytes: 3000,
                network_sent_bytes: 200,
            },
            held: HeldMemory {
                resident_bytes: memory_bytes,
                anonymous_bytes: memory_bytes / 2,
                file_bytes: 1,
                heap: HeldHeap {
                    used_bytes: memory_bytes / 5,
                    committed_bytes: memory_bytes / 3,
                },
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
        assert_eq!(
            (sample.sequence, sample.age_ms, sample.length_ms),
            (1, 2000, 3000)
        );
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
    fn a_container_that_ran_for_a_part_is_measured_over_its_part() {
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
    fn what_all_containers_use_is_the_sum_of_each_once() {
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
    fn acknowledged_samples_are_forgotten_and_no_others() {
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
    fn what_nobody_acknowledges_is_dropped_after_two_minutes_and_counted() {
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
