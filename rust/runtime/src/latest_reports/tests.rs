#![allow(clippy::unwrap_used, reason = "tests")]

use elastane_protocol::{
    CanLimit, Capacity, MAX_MESSAGE_BYTES, PREVIOUS_VERSION, Sample, Usage, VERSION, decode_report,
    encode,
};

use super::*;

const NODE: &str = "node-1:1";

/// Each container has samples with these numbers of cores, oldest first.
fn report(containers: &[(&str, &[f32])]) -> Report {
    let sample = |cpu_cores: &f32| Sample {
        sequence: 1,
        age_ms: 0,
        length_ms: 1_000,
        usage: Usage { cpu_cores: *cpu_cores, ..Usage::default() },
    };
    let of = |(container, cores): &(&str, &[f32])| ContainerSamples {
        container: (*container).to_owned(),
        limits: None,
        samples: cores.iter().map(sample).collect(),
        stages: None,
    };
    Report {
        agent_run: 1,
        sequence: 1,
        can_limit: CanLimit { memory: true, ..CanLimit::default() },
        capacity: Capacity::default(),
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: containers.iter().map(of).collect(),
    }
}

fn arrive(reports: &LatestReports, version: u16, body: &[u8], at_ms: i64) {
    let report = decode_report(version, body).unwrap();
    if let Some(kept) = reports.to_keep(NODE, &report, version, body, at_ms) {
        let planned = |id: &str| Some((id.into(), Resources::ZERO));
        reports.arrived(NODE, &report.containers, kept, planned);
    }
}

fn after(all: &[Report]) -> LatestReports {
    let reports = LatestReports::default();
    for (at_ms, report) in (1_000..).step_by(1_000).zip(all) {
        arrive(&reports, VERSION, &encode(report).unwrap(), at_ms);
    }
    reports
}

/// When a container's samples came, and their cores.
fn shown(reports: &LatestReports, container: &str) -> Option<(i64, Vec<f32>)> {
    let arrived = reports.of(NODE)?;
    let (at_ms, found) = arrived.of(container)?;
    Some((at_ms, found.samples.iter().map(|it| it.usage.cpu_cores).collect()))
}

#[test]
fn of_several_samples_only_the_last_is_shown() {
    let reports = after(&[report(&[("a", &[1.0, 2.0, 3.0]), ("b", &[4.0]), ("c", &[])])]);
    assert_eq!(shown(&reports, "a"), Some((1_000, vec![3.0])));
    assert_eq!(shown(&reports, "b"), Some((1_000, vec![4.0])));
    assert_eq!(shown(&reports, "c"), Some((1_000, vec![])));
    assert!(reports.of(NODE).unwrap().can_limit().memory);
    let (_, columns) = reports.history_of(NODE).unwrap();
    assert_eq!(columns["a"][0].unwrap().used.cpu_cores, 3.0);
}

#[test]
fn a_container_without_samples_is_shown_beside_one_with_a_sample() {
    let reports = after(&[report(&[("a", &[]), ("b", &[4.0])])]);
    assert_eq!(shown(&reports, "a"), Some((1_000, vec![])));
    assert_eq!(shown(&reports, "b"), Some((1_000, vec![4.0])));
    assert_eq!(shown(&reports, "c"), None);
}

#[test]
fn a_report_without_samples_leaves_the_former_one() {
    let reports = after(&[report(&[("a", &[1.0])]), report(&[("a", &[])])]);
    assert_eq!(shown(&reports, "a"), Some((1_000, vec![1.0])));
    let reports = after(&[report(&[("a", &[1.0])]), report(&[])]);
    assert_eq!(shown(&reports, "a"), None);
}

#[test]
fn a_report_of_the_previous_version_is_asked_about() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../protocol/tests/golden");
    let body = std::fs::read(format!("{golden}/v{PREVIOUS_VERSION}-report.bin")).unwrap();
    let report = decode_report(PREVIOUS_VERSION, &body).unwrap();
    let reports = LatestReports::default();
    arrive(&reports, PREVIOUS_VERSION, &body, 1_000);
    let arrived = reports.of(NODE).unwrap();
    assert_eq!(arrived.can_limit(), report.can_limit);
    for sent in &report.containers {
        let (_, found) = arrived.of(&sent.container).unwrap();
        assert_eq!((found.samples.last(), found.limits), (sent.samples.last(), sent.limits));
    }
    assert!(!report.containers.is_empty());
}

#[test]
fn a_history_that_is_read_does_not_change() {
    let reports = after(&[report(&[("a", &[1.0])])]);
    let read = Arc::clone(&reports.reports(NODE).unwrap().lock().history);
    arrive(&reports, VERSION, &encode(&report(&[("a", &[2.0])])).unwrap(), 60_000);
    assert_eq!(read.columns().0, [1_000]);
    assert_eq!(reports.history_of(NODE).unwrap().0, [1_000, 60_000]);
}

/// [`report`] as version 4 encodes it.
fn previous_body(containers: &[(&str, &[f32])]) -> Vec<u8> {
    let report = report(containers);
    let of = |it: &ContainerSamples| (it.container.clone(), it.limits, it.samples.clone());
    let previous: Vec<_> = report.containers.iter().map(of).collect();
    let mut body = encode(&Report { containers: Vec::new(), ..report }).unwrap();
    assert_eq!(body.pop(), Some(0), "the length of the last field");
    body.extend(encode(&previous).unwrap());
    body
}

/// This version's bytes of a report have one byte more for each container, which the samples left out do not always make
/// up for.
#[test]
fn a_report_of_the_previous_version_that_becomes_too_large_leaves_the_former_one() {
    let mut containers: Vec<(&str, &[f32])> = vec![("a", &[2.0, 3.0])];
    containers.resize(MAX_MESSAGE_BYTES / 4 - 100, ("b", &[]));
    let body = previous_body(&containers);
    assert!(body.len() <= MAX_MESSAGE_BYTES);
    let reports = after(&[report(&[("a", &[1.0])])]);
    arrive(&reports, PREVIOUS_VERSION, &body, 2_000);
    assert_eq!(shown(&reports, "a"), Some((1_000, vec![1.0])));
    // A smaller one is kept.
    arrive(&reports, PREVIOUS_VERSION, &previous_body(&containers[..100]), 3_000);
    assert_eq!(shown(&reports, "a"), Some((3_000, vec![3.0])));
}
