//! What is learned of an application that others crowded.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{GB, NODE, START_MS, commit, open, register, request, submission, unencoded_report};
use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_predict::RunSeries;
use elastane_protocol::{Report, VERSION, encode};
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};

const ID: &str = "application_1_0001";
const MASTER: &str = "master";
const EXECUTOR: &str = "executor";
const SLOT_MS: i64 = 3_000;

/// Cores that a container used, and threads of it that waited, on average.
type Cpu = (f32, f32);

/// Twelve slots, in each of which the executor and its master had so much; others waited as well.
fn learned(folder: &Path, executor: Cpu, master: Option<Cpu>, others: Cpu) -> Vec<RunSeries> {
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission(ID), START_MS);
    if master.is_some() {
        assert!(elastane.commit(master_of(application, node), START_MS));
    }
    assert!(commit(&elastane, EXECUTOR, application, node, START_MS));
    for slot in 1..=12 {
        let now_ms = START_MS + slot * SLOT_MS;
        let containers = [Some((EXECUTOR, executor)), master.map(|master| (MASTER, master))];
        let report = report(slot as u64, containers.into_iter().flatten(), others);
        elastane.report(NODE, VERSION, &encode(&report).unwrap(), now_ms).unwrap();
    }
    let end_ms = START_MS + 12 * SLOT_MS;
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

fn report<'a>(
    sequence: u64,
    containers: impl Iterator<Item = (&'a str, Cpu)> + Clone,
    others: Cpu,
) -> Report {
    let used: Vec<_> = containers.clone().map(|(id, (used, _))| (id, used, GB)).collect();
    let mut report = unencoded_report(sequence, &used);
    (report.containers_usage.cpu_cores, report.containers_usage.cpu_waited_cores) = others;
    for (samples, (_, (used, waited))) in report.containers.iter_mut().zip(containers) {
        samples.samples[0].usage.cpu_waited_cores = waited;
        report.containers_usage.cpu_cores += used;
        report.containers_usage.cpu_waited_cores += waited;
    }
    report
}

fn executors(series: &[RunSeries]) -> Vec<f64> {
    let of = series.iter().find(|it| it.kind == ContainerKind::DEFAULT_EXECUTOR).unwrap();
    of.slots.iter().map(|slot| slot.cpu_cores).collect()
}

#[test]
fn a_crowded_executor_is_learned_as_on_a_free_node() {
    let folder = tempfile::tempdir().unwrap();
    // It had two fifths of what it wanted, among very many: 36 s are 14.4 s.
    let crowded = learned(folder.path(), (0.4, 0.6), None, (400.0, 800_000.0));
    let cores = executors(&crowded);
    assert_eq!(cores.len(), 5);
    assert!(cores.iter().all(|it| (it - 1.0).abs() < 0.01), "{cores:?}");
}

#[test]
fn an_executor_that_waits_for_itself_alone_is_learned_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let alone = learned(folder.path(), (0.5, 0.5), None, (0.0, 0.0));
    assert_eq!(executors(&alone), [0.5; 12]);
}

#[test]
fn an_idle_executor_of_a_crowded_master_is_learned_as_if_the_master_had_been_on_a_free_node() {
    let folder = tempfile::tempdir().unwrap();
    let crowded = learned(folder.path(), (0.0, 0.0), Some((0.25, 0.75)), (400.0, 800_000.0));
    // The first sample of the executor comes before the first of its master.
    assert_eq!(executors(&crowded), [0.0; 4]);
}
