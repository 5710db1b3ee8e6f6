//! What is learned of an application that others crowded.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{GB, NODE, START_MS, commit, open, register, request, submission, unencoded_report};
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_core::{ContainerKind, Resources};
use elastane_predict::RunSeries;
use elastane_protocol::{Report, VERSION, encode};
use elastane_store::{Access, Depository};

const ID: &str = "application_1_0001";
const MASTER: &str = "master";
const EXECUTOR: &str = "executor";
const SLOT_MS: i64 = 3_000;
const INTERVALS: u64 = 12;
/// Other containers that have nearly all threads of the node.
const VERY_MANY: Cpu = (400.0, 800_000.0);

/// Cores that a container used, and threads of it that waited, on average.
type Cpu = (f32, f32);

/// The series that are learned of an executor and its master, reported on after each of twelve intervals.
fn learned(folder: &Path, mut report: impl FnMut(u64) -> Report) -> Vec<RunSeries> {
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission(ID), START_MS);
    assert!(elastane.commit(master_of(application, node), START_MS));
    assert!(commit(&elastane, EXECUTOR, application, node, START_MS));
    for interval in 1..=INTERVALS {
        let now_ms = START_MS + interval as i64 * SLOT_MS;
        let mut report = report(interval);
        if report.containers.is_empty() {
            continue; // The agent is silent.
        }
        report.sequence = interval;
        let report = encode(&report).unwrap();
        elastane.report(NODE, VERSION, &report, now_ms).unwrap();
    }
    let end_ms = START_MS + INTERVALS as i64 * SLOT_MS;
    elastane.finished(EXECUTOR, end_ms);
    elastane.application_removed(application, true, end_ms);
    elastane.close();
    let file = folder.join("depository.sqlite");
    let depository = Depository::open_existing(&file, Access::Read).unwrap();
    let key = depository.applications().unwrap().remove(0).key;
    depository.latest_runs(&key, 1).unwrap().remove(0).series
}

fn master_of(application: ApplicationId, node: NodeId) -> CommitRequest<'static> {
    CommitRequest {
        container: MASTER,
        application,
        node,
        kind: ContainerKind::ApplicationMaster,
        request: request(1),
        may_refuse: false,
        start_ms: START_MS,
    }
}

/// What each container had in an interval.
fn report(interval: u64, containers: &[(&str, Cpu)]) -> Report {
    let used: Vec<_> = containers.iter().map(|(id, (used, _))| (*id, *used, GB)).collect();
    let mut report = unencoded_report(interval, &used);
    for (samples, (_, (_, waited))) in report.containers.iter_mut().zip(containers) {
        samples.samples[0].usage.cpu_waited_cores = *waited;
    }
    report
}

fn of(series: &[RunSeries], kind: ContainerKind) -> &[Resources] {
    &series.iter().find(|it| it.kind == kind).unwrap().slots
}

fn executor_cores(series: &[RunSeries]) -> Vec<f64> {
    of(series, ContainerKind::DEFAULT_EXECUTOR).iter().map(|slot| slot.cpu_cores).collect()
}

#[test]
fn a_crowded_executor_is_learned_as_on_a_free_node() {
    let folder = tempfile::tempdir().unwrap();
    // It had two fifths of what it wanted: 36 s are 14.4 s.
    let crowded = learned(folder.path(), |interval| {
        report(interval, &[(EXECUTOR, (0.4, 0.6)), ("others", VERY_MANY)])
    });
    let cores = executor_cores(&crowded);
    assert_eq!(cores.len(), 5);
    assert!(cores.iter().all(|it| (it - 1.0).abs() < 0.01), "{cores:?}");
}

#[test]
fn an_executor_that_waits_for_itself_alone_is_learned_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let alone = learned(folder.path(), |interval| report(interval, &[(EXECUTOR, (0.5, 0.5))]));
    assert_eq!(executor_cores(&alone), [0.5; 12]);
}

#[test]
fn no_more_is_learned_than_the_node_can_do() {
    let folder = tempfile::tempdir().unwrap();
    let crowded = learned(folder.path(), |interval| {
        let mut report = report(interval, &[(EXECUTOR, (0.25, 0.75)), ("others", VERY_MANY)]);
        report.capacity.disk_bytes_per_s = 1_000;
        report.containers[0].samples[0].usage.disk_read_bytes_per_s = 500;
        report
    });
    let slots = of(&crowded, ContainerKind::DEFAULT_EXECUTOR);
    assert_eq!(slots.len(), 6);
    assert!(slots.iter().all(|slot| slot.disk_bytes_per_s == 1_000.0), "{slots:?}");
}

#[test]
fn each_interval_of_a_late_report_is_judged_by_the_containers_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    // The agent was silent until the end; the node was crowded in the first half.
    let crowded = learned(folder.path(), |interval| {
        let mut late = report(interval, &[]);
        if interval == INTERVALS {
            late = report(1, &[(EXECUTOR, (0.4, 0.6)), ("others", VERY_MANY)]);
            for earlier in 2..=INTERVALS {
                let others = if earlier <= INTERVALS / 2 { VERY_MANY } else { (0.0, 0.0) };
                let at_the_time = report(earlier, &[(EXECUTOR, (0.4, 0.6)), ("others", others)]);
                for (all, one) in late.containers.iter_mut().zip(at_the_time.containers) {
                    all.samples.extend(one.samples);
                }
            }
            for sample in late.containers.iter_mut().flat_map(|it| &mut it.samples) {
                sample.age_ms = (INTERVALS - sample.sequence) as u32 * SLOT_MS as u32;
            }
        }
        late
    });
    let cores = executor_cores(&crowded);
    // 18 s are 7.2 s, the others stay.
    assert_eq!(cores.len(), 9);
    let is_near = |at: usize, expected: f64| (cores[at] - expected).abs() < 0.01;
    assert!(is_near(0, 1.0) && is_near(8, 0.4), "{cores:?}");
}

#[test]
fn an_idle_executor_of_a_crowded_master_is_learned_as_if_the_master_had_been_on_a_free_node() {
    let folder = tempfile::tempdir().unwrap();
    let crowded = learned(folder.path(), |interval| {
        let application = [(MASTER, (0.1, 0.4)), (EXECUTOR, (0.0, 0.0)), ("others", VERY_MANY)];
        report(interval, &application)
    });
    // Half of the time the master was active, of which four fifths are lost: 36 s are 21.6 s, for both.
    assert_eq!(executor_cores(&crowded), [0.0; 8]);
    assert_eq!(of(&crowded, ContainerKind::ApplicationMaster).len(), 8);
}

#[test]
fn a_master_that_is_measured_no_more_shortens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let crowded = learned(folder.path(), |interval| {
        let master = [(MASTER, (0.1, 0.9)), ("others", VERY_MANY)];
        let seen = if interval == 1 { &master[..] } else { &master[1..] };
        report(interval, &[seen, &[(EXECUTOR, (0.0, 0.0))]].concat())
    });
    // Of the first four intervals a tenth is left, 1.2 s; eight follow.
    assert_eq!(executor_cores(&crowded).len(), 9);
}
