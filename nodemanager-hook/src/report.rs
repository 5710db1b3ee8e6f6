//! The report: all samples without an acknowledgement, within the size of one message.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use elastane_protocol::{ContainerSamples, Limits, MAX_MESSAGE_BYTES, Report, StageProgress};

use crate::{container_id::ContainerId, samples::Samples};

// Upper bounds of postcard's encoding.
/// A report without containers.
const HEAD_BYTES: usize = 384;
/// A container without id and samples.
const CONTAINER_BYTES: usize = 120;
const SAMPLE_BYTES: usize = 128;
/// A victim without id.
const VICTIM_BYTES: usize = 24;
/// The outcome of an order without id.
const OUTCOME_BYTES: usize = 8;

/// What is told of a running container, samples apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running {
    /// In force.
    pub limits: Option<Limits>,
    /// As its application tells.
    pub stages: Option<StageProgress>,
}

/// Adds the samples to a report at `now`.
///
/// If the samples do not fit one message, the report holds the oldest; the rest follows after their
/// acknowledgement.
pub fn with_samples(
    report: Report,
    running: &BTreeMap<ContainerId, Running>,
    samples: &Samples,
    now: Instant,
) -> Report {
    let unacknowledged: BTreeMap<_, _> = samples.unacknowledged().collect();
    let containers: BTreeSet<&ContainerId> =
        running.keys().chain(unacknowledged.keys().copied()).collect();
    let newest = newest_that_fits(&containers, &report, samples);
    let samples_of = |container: &ContainerId| {
        let closed = unacknowledged.get(container).copied().into_iter().flatten();
        let fitting = closed.filter(|sample| sample.sequence <= newest);
        let Running { limits, stages } = running.get(container).copied().unwrap_or_default();
        ContainerSamples {
            container: container.to_string(),
            limits,
            samples: fitting.map(|sample| sample.at(now)).collect(),
            stages,
        }
    };
    let containers = containers.into_iter().map(samples_of).collect();
    Report { sequence: newest, containers, ..report }
}

/// The sequence number up to which all samples fit.
fn newest_that_fits(
    containers: &BTreeSet<&ContainerId>,
    report: &Report,
    samples: &Samples,
) -> u64 {
    let ids: usize = containers.iter().map(|id| id.as_str().len()).sum();
    let victims = report.memory_victims.iter().map(|one| one.container.len() + VICTIM_BYTES);
    let outcomes = report.decommissioned.iter().map(|one| one.container.len() + OUTCOME_BYTES);
    let named: usize = victims.chain(outcomes).sum();
    let mut bytes = HEAD_BYTES + ids + named + containers.len() * CONTAINER_BYTES;
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, closed) in samples.unacknowledged() {
        for sample in closed {
            *counts.entry(sample.sequence).or_default() += 1;
        }
    }
    for (sequence, count) in counts {
        bytes += count * SAMPLE_BYTES;
        if bytes > MAX_MESSAGE_BYTES {
            return sequence - 1;
        }
    }
    samples.sequence()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use elastane_protocol::{
        CanLimit, Capacity, DecommissionOutcome, Decommissioned, MemoryVictim, Pressure, Usage,
        encode,
    };

    use super::*;
    use crate::sensors::{Counted, HeldMemory, Reading};

    const STAGES: StageProgress = StageProgress {
        stages_ended: u32::MAX,
        since_ms: u32::MAX,
        part_ended: 0.5,
        part_begun: 1.0,
    };

    fn without_samples() -> Report {
        Report {
            agent_run: 5,
            sequence: 0,
            can_limit: CanLimit {
                cpu: true,
                memory: true,
                disk: true,
                network_sent: true,
                network_received: true,
            },
            capacity: Capacity {
                cpu_cores: 2.0,
                memory_bytes: 1 << 30,
                network_bytes_per_s: 0,
                disk_bytes_per_s: 0,
            },
            containers_usage: Usage::default(),
            node_usage: Usage::default(),
            pressure: None,
            memory_victims: Vec::new(),
            decommissioned: Vec::new(),
            containers: Vec::new(),
        }
    }

    fn id(number: u32) -> ContainerId {
        format!("container_e17_1410901177871_0001_01_{number:06}").parse().unwrap()
    }

    fn samples(containers: u32, rounds: u64, start: Instant) -> Samples {
        let mut samples = Samples::default();
        for round in 0..rounds {
            let since = start + Duration::from_secs(3 * round);
            let at = since + Duration::from_secs(3);
            for number in 0..containers {
                let large = u64::MAX >> 8;
                let reading = Reading {
                    since,
                    at,
                    counted: Counted {
                        cpu_nanoseconds: 3_000_000_000,
                        throttled_nanoseconds: 1_000_000_000,
                        waited_nanoseconds: 1_000_000_000,
                        disk_read_bytes: large,
                        disk_written_bytes: large,
                        network_received_bytes: large,
                        network_sent_bytes: large,
                    },
                    held: HeldMemory {
                        resident_bytes: large,
                        anonymous_bytes: large,
                        file_bytes: large,
                        ..HeldMemory::default()
                    },
                };
                samples.add(&id(number), &reading);
            }
            samples.close(at);
        }
        samples
    }

    #[test]
    fn a_running_container_is_reported_before_its_first_sample() {
        let limits = Limits { memory_bytes: Some(7), ..Limits::default() };
        let stages = StageProgress { stages_ended: 3, ..STAGES };
        let running = Running { limits: Some(limits), stages: Some(stages) };
        let running = BTreeMap::from([(id(1), running)]);
        let samples = Samples::default();
        let report = with_samples(without_samples(), &running, &samples, Instant::now());
        assert_eq!(report.sequence, 0);
        assert_eq!(report.containers[0].container, id(1).to_string());
        assert_eq!(report.containers[0].limits, Some(limits));
        assert_eq!(report.containers[0].stages, Some(stages));
    }

    #[test]
    fn a_container_that_has_ended_still_reports_its_samples() {
        let start = Instant::now();
        let samples = samples(1, 2, start);
        let report = with_samples(without_samples(), &BTreeMap::new(), &samples, start);
        assert_eq!(report.sequence, 2);
        assert_eq!(report.containers[0].samples.len(), 2);
    }

    #[test]
    fn a_report_fits_one_message_and_the_rest_follows() {
        let start = Instant::now();
        let mut samples = samples(400, 40, start);
        let now = start + Duration::from_secs(120);
        let limits = Limits {
            cpu_weight_cores: Some(1.0),
            cpu_cap_cores: Some(1.0),
            memory_bytes: Some(u64::MAX),
            disk_cap_bytes_per_s: Some(u64::MAX),
            network_weight_bytes_per_s: Some(u64::MAX),
            network_cap_bytes_per_s: Some(u64::MAX),
        };
        let running = Running { limits: Some(limits), stages: Some(STAGES) };
        let running = (0..400).map(|number| (id(number), running)).collect();
        let with_victims = || Report {
            pressure: Some(Pressure::default()),
            memory_victims: (0..400)
                .map(|number| MemoryVictim {
                    container: id(number).to_string(),
                    resident_bytes: u64::MAX,
                    short_bytes: u64::MAX,
                })
                .collect(),
            decommissioned: (0..400)
                .map(|number| Decommissioned {
                    container: id(number).to_string(),
                    outcome: DecommissionOutcome::Failed,
                })
                .collect(),
            ..without_samples()
        };
        let mut reported = 0;
        let mut reports = 0;
        while reported < 40 {
            let usage = samples.newest();
            let report = Report { containers_usage: usage, ..with_victims() };
            let report = with_samples(report, &running, &samples, now);
            assert!(encode(&report).unwrap().len() < MAX_MESSAGE_BYTES - 16);
            assert!(report.sequence > reported);
            let first = report.containers[0].samples[0].sequence;
            assert_eq!(first, reported + 1);
            reported = report.sequence;
            samples.acknowledge(reported);
            reports += 1;
        }
        assert!(reports > 1);
    }
}
