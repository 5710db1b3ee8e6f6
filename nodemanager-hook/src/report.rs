//! The report: everything that was not acknowledged yet, within the size of one message.

use std::{collections::BTreeMap, time::Instant};

use elastane_protocol::{Capacity, ContainerSamples, CpuStep, MAX_MESSAGE_BYTES, Report};

use crate::{container_id::ContainerId, samples::Samples};

/// The most that a report takes beside its containers, as postcard writes it.
const HEAD_BYTES: usize = 128;
/// The most that a container takes beside its id and its samples.
const CONTAINER_BYTES: usize = 32;
/// The most that a sample takes.
const SAMPLE_BYTES: usize = 54;

/// What is the same in every report of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    pub agent_run: u64,
    pub can_limit_cpu: bool,
    pub capacity: Capacity,
}

/// Makes a report at `now`. `running` are the containers that run, each with its limit in force.
///
/// When everything does not fit one message, the oldest samples go first and the rest follows
/// after they have been acknowledged.
pub fn report(
    identity: &Identity,
    running: &BTreeMap<ContainerId, Option<CpuStep>>,
    samples: &Samples,
    now: Instant,
) -> Report {
    let mut containers: BTreeMap<&ContainerId, ContainerSamples> = BTreeMap::new();
    for (container, limit) in running {
        containers.insert(container, empty(container, *limit));
    }
    for (container, _) in samples.unacknowledged() {
        containers
            .entry(container)
            .or_insert_with(|| empty(container, None));
    }
    let newest = newest_that_fits(&containers, samples);
    for (container, closed) in samples.unacknowledged() {
        if let Some(entry) = containers.get_mut(container) {
            let fitting = closed.iter().filter(|sample| sample.sequence <= newest);
            entry.samples = fitting.map(|sample| sample.at(now)).collect();
        }
    }
    Report {
        agent_run: identity.agent_run,
        sequence: newest,
        can_limit_cpu: identity.can_limit_cpu,
        capacity: identity.capacity,
        containers_usage: samples.newest(),
        containers: containers.into_values().collect(),
    }
}

fn empty(container: &ContainerId, cpu_limit: Option<CpuStep>) -> ContainerSamples {
    ContainerSamples {
        container: container.to_string(),
        cpu_limit,
        samples: Vec::new(),
    }
}

/// The newest sequence number up to which all samples fit.
fn newest_that_fits(
    containers: &BTreeMap<&ContainerId, ContainerSamples>,
    samples: &Samples,
) -> u64 {
    let ids: usize = containers.keys().map(|id| id.as_str().len()).sum();
    let mut bytes = HEAD_BYTES + ids + containers.len() * CONTAINER_BYTES;
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

    use elastane_protocol::encode;

    use super::*;
    use crate::samples::Reading;

    const IDENTITY: Identity = Identity {
        agent_run: 5,
        can_limit_cpu: true,
        capacity: Capacity {
            cpu_cores: 2.0,
            memory_bytes: 1 << 30,
            network_bytes_per_s: 0,
            disk_bytes_per_s: 0,
        },
    };

    fn id(number: u32) -> ContainerId {
        format!("container_e17_1410901177871_0001_01_{number:06}")
            .parse()
            .unwrap()
    }

    fn samples(containers: u32, rounds: u64, start: Instant) -> Samples {
        let mut samples = Samples::default();
        for round in 0..rounds {
            let since = start + Duration::from_secs(3 * round);
            let at = since + Duration::from_secs(3);
            for number in 0..containers {
                let reading = Reading {
                    since,
                    at,
                    cpu_nanoseconds: 3_000_000_000,
                    memory_bytes: u64::MAX >> 8,
                    disk_bytes: u64::MAX >> 8,
                };
                samples.add(&id(number), &reading);
            }
            samples.close(at);
        }
        samples
    }

    #[test]
    fn a_running_container_is_there_before_its_first_sample() {
        let step = CpuStep {
            offset_ms: 0,
            weight_cores: 1.0,
            cap_cores: None,
        };
        let running = BTreeMap::from([(id(1), Some(step))]);
        let report = report(&IDENTITY, &running, &Samples::default(), Instant::now());
        assert_eq!(report.sequence, 0);
        assert_eq!(report.containers[0].container, id(1).to_string());
        assert_eq!(report.containers[0].cpu_limit, Some(step));
    }

    #[test]
    fn a_container_that_is_gone_still_reports_what_it_used() {
        let start = Instant::now();
        let report = report(&IDENTITY, &BTreeMap::new(), &samples(1, 2, start), start);
        assert_eq!(report.sequence, 2);
        assert_eq!(report.containers[0].samples.len(), 2);
    }

    #[test]
    fn a_report_never_passes_one_message_and_the_rest_follows() {
        let start = Instant::now();
        let mut samples = samples(400, 40, start);
        let now = start + Duration::from_secs(120);
        let running = (0..400).map(|number| (id(number), None)).collect();
        let mut reported = 0;
        let mut reports = 0;
        while reported < 40 {
            let report = report(&IDENTITY, &running, &samples, now);
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
