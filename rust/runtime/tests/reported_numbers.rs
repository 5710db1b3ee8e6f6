//! Numbers that no sensor can have meant refuse a report; the others are shown.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{GB, NODE, START_MS, commit, journal, open, register, submission, unencoded_report};
use elastane_protocol::{MemoryVictim, Pressure, Report, StageProgress, Usage, VERSION, encode};
use elastane_runtime::Elastane;

fn told(elastane: &Elastane, report: &Report) -> Result<Vec<u8>, String> {
    let body = encode(report).unwrap();
    elastane.report(NODE, VERSION, &body, START_MS).map_err(|error| error.to_string())
}

#[test]
fn a_bad_number_is_named_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    register(&elastane);
    let good = || unencoded_report(1, &[("a", 1.0, GB)]);
    let with = |change: fn(&mut Report)| {
        let mut report = good();
        change(&mut report);
        told(&elastane, &report).unwrap_err()
    };
    let huge = MemoryVictim { container: "a".to_owned(), resident_bytes: u64::MAX, short_bytes: 0 };
    let victims = Report { memory_victims: vec![huge], ..good() };
    let refused = [
        with(|report| report.capacity.cpu_cores = f32::NAN),
        with(|report| report.containers_usage.cpu_cores = -1.0),
        with(|report| report.node_usage.cpu_cores = f32::INFINITY),
        with(|report| report.node_usage.disk_read_bytes_per_s = u64::MAX),
        with(|report| report.containers[0].samples[0].usage.cpu_throttled = 1.5),
        with(|report| report.containers_usage.cpu_waited_cores = f32::NAN),
        with(|report| {
            report.pressure = Some(Pressure { memory: 99.0, ..Pressure::default() });
        }),
        told(&elastane, &victims).unwrap_err(),
        with(|report| {
            let half =
                StageProgress { stages_ended: 1, since_ms: 0, part_ended: 0.5, part_begun: 0.5 };
            report.containers[0].stages = Some(StageProgress { part_begun: f32::NAN, ..half });
        }),
    ];
    assert_eq!(
        refused,
        [
            "capacity in cores is NaN, 0 to 1000000 is allowed",
            "usage of all containers: cores is -1, 0 to 1000000 is allowed",
            "usage of the node: cores is inf, 0 to 1000000 is allowed",
            "usage of the node: read is 18446744073709551615, 0 to 1152921504606846976 is allowed",
            "usage of a: throttled share is 1.5, 0 to 1 is allowed",
            "usage of all containers: waited for cores is NaN, 0 to 1000000 is allowed",
            "pressure of memory is 99, 0 to 1 is allowed",
            "memory of a is 18446744073709551615, 0 to 1152921504606846976 is allowed",
            "begun part of tasks of a is NaN, 0 to 1 is allowed",
        ]
    );
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["nodes"][0]["measured"], serde_json::Value::Null);
    assert!(told(&elastane, &good()).is_ok());
}

#[test]
fn what_an_administrator_looks_for_is_in_status_and_journal() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission("application_1_0001"), START_MS);
    assert!(commit(&elastane, "a", application, node, START_MS));
    let mut report = unencoded_report(1, &[("a", 1.0, GB)]);
    report.containers_usage =
        Usage { cpu_cores: 1.0, cpu_waited_cores: 0.75, memory_bytes: GB, ..Usage::default() };
    report.node_usage = Usage { cpu_cores: 1.5, memory_bytes: 3 * GB, ..Usage::default() };
    report.pressure = Some(Pressure { memory: 0.5, ..Pressure::default() });
    let usage = &mut report.containers[0].samples[0].usage;
    usage.cpu_throttled = 0.25;
    usage.cpu_waited_cores = 0.5;
    usage.heap_committed_bytes = GB / 2;
    told(&elastane, &report).unwrap();

    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    let measured = &status["nodes"][0]["measured"];
    assert_eq!(measured["used_by_others"]["cpu_cores"], 0.5);
    assert_eq!(measured["used_by_others"]["memory_bytes"], (2 * GB) as f64);
    assert_eq!(measured["cpu_throttled"], 0.25);
    assert_eq!(measured["cpu_waited_cores"], 0.75);
    assert_eq!(measured["pressure"]["memory"], 0.5);
    elastane.close();

    let journal = journal(folder.path());
    let node = journal.iter().find(|record| record["kind"] == "node");
    let node = node.unwrap();
    assert_eq!(node["used_by_others"]["cpu_cores"], 0.5);
    assert_eq!(node["containers"][0]["cpu_throttled"], 0.25);
    assert_eq!(node["containers"][0]["cpu_waited_cores"], 0.5);
    assert_eq!(node["containers"][0]["heap_committed_bytes"], GB / 2);
}
