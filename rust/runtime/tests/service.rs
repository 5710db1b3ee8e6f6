//! The service alone: no file, no thread, no clock.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::{GB, NODE, START_MS, free, request, submission, unencoded_report};
use elastane_core::cluster::{
    ApplicationId, Ask, Basis, CommitRequest, Demands, NodeId, Predicted,
};
use elastane_core::{Demand, Resources};
use elastane_runs::{ContainerKind, Outcome, RunEvent};
use elastane_runtime::{
    JournalEvent, Placed, Service, ServiceSettings, Submitted, submission_record,
};

const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;
const CONTAINER: &str = "container_1_0001_01_000002";

fn service() -> (Service, NodeId) {
    let mut settings = ServiceSettings::default();
    settings.cluster.enforce = true;
    let mut service = Service::new(settings, Vec::new()).unwrap();
    let node = service.node_added(NODE, request(8));
    (service, node)
}

fn status(service: &mut Service, now_ms: i64) -> serde_json::Value {
    let mut snapshot = service.status(now_ms);
    while service.add_to_status(&mut snapshot) {}
    serde_json::to_value(snapshot.into_status()).unwrap()
}

fn submit(service: &mut Service, id: &str) -> Submitted {
    let record = submission_record(&submission(id), START_MS);
    service.application_added(record, "root.default", "somebody", None, Demands::default()).0
}

fn ask(count: u32) -> Ask {
    Ask { kind: KIND, priority: 0, request: request(3), count }
}

fn commit(service: &mut Service, application: ApplicationId, node: NodeId) -> Box<Placed> {
    let request = CommitRequest {
        container: CONTAINER,
        application,
        node,
        kind: KIND,
        request: request(3),
        may_refuse: true,
        start_ms: START_MS,
    };
    let committed = service.commit(request, START_MS);
    assert!(committed.is_admitted);
    let record = committed.record.unwrap();
    assert_eq!(record.queue.as_deref(), Some("root.default"));
    let JournalEvent::Placed(placed) = record.event else { panic!("a placement: {record:?}") };
    placed
}

#[test]
fn effects_are_values_from_the_submission_to_the_run() {
    let (mut service, node) = service();
    let submitted = submit(&mut service, "application_1_0001");
    assert!(submitted.is_new);
    let application = submitted.application;
    let asked = service.pending(application, ask(2), START_MS).unwrap();
    assert_eq!(asked.settings.0["executors"], 2.0);
    assert_eq!(service.pending(application, ask(1), START_MS), None);
    service.report(NODE, &unencoded_report(0, &[]), START_MS).unwrap();
    let order = service.round(node, free(), START_MS).unwrap();
    assert_eq!(order, [application]);
    assert_eq!(commit(&mut service, application, node).profile, None);

    let now_ms = START_MS + 3_000;
    let report = unencoded_report(1, &[(CONTAINER, 1.0, GB)]);
    let reported = service.report(NODE, &report, now_ms).unwrap();
    assert_eq!((reported.ingested.samples, reported.ingested.repeated), (1, 0));
    let again = service.report(NODE, &report, now_ms).unwrap();
    assert_eq!((again.ingested.samples, again.ingested.repeated), (0, 1));
    let due = service.due(now_ms);
    let news = due.checkpoint.unwrap();
    assert!(matches!(news[0], RunEvent::Whole(_)));
    assert!(matches!(news[1], RunEvent::Sampled { .. }));
    assert_eq!(due.ended, []);

    let finished = service.finished(CONTAINER, now_ms).unwrap();
    assert!(matches!(finished.event, JournalEvent::Finished { .. }));
    assert_eq!(finished.queue.as_deref(), Some("root.default"));
    service.application_removed(application, true, now_ms);
    assert_eq!(service.due(now_ms).ended, [], "samples are on the way");
    let [run] = &service.due(now_ms + 60_000).ended[..] else { panic!("one run") };
    assert_eq!((run.outcome, run.ended_ms), (Outcome::Succeeded, now_ms));
    assert_eq!(run.series[0].slots[0].cpu_cores, 1.0);
}

#[test]
fn a_prediction_that_is_handed_in_plans_the_next_container() {
    let (mut service, node) = service();
    let application = submit(&mut service, "application_1_0001").application;
    let slot = Resources::from_array([0.5, 1e9, 0.0, 0.0]);
    let predicted = Predicted::of(
        Demand::series(3_000, &[slot]).unwrap(),
        0.0,
        Basis::Profile("nightly".into()),
    );
    service.set_prediction(application, KIND, Some(predicted));
    service.pending(application, ask(1), START_MS);
    let placed = commit(&mut service, application, node);
    assert_eq!(placed.profile.as_deref(), Some("nightly"));
}

#[test]
fn use_is_compared_with_what_was_predicted() {
    let (mut service, node) = service();
    let application = submit(&mut service, "application_1_0001").application;
    let slot = Resources::from_array([0.5, 2.0 * GB as f64, 0.0, 0.0]);
    let predicted = Predicted::of(
        Demand::series(3_000, &[slot, slot]).unwrap(),
        0.2,
        Basis::Profile("nightly".into()),
    );
    service.set_prediction(application, KIND, Some(predicted));
    service.pending(application, ask(1), START_MS);
    commit(&mut service, application, node);

    let mut report = |sequence, cores, bytes, now_ms| {
        let report = unencoded_report(sequence, &[(CONTAINER, cores, bytes), ("unknown", 1.0, GB)]);
        service.report(NODE, &report, now_ms).unwrap().ingested.foresight
    };
    let covered = report(1, 0.25, GB, START_MS + 3_000);
    let by_time = (covered.predicted_ms, covered.cpu_covered_ms, covered.memory_covered_ms);
    assert_eq!(by_time, (3e3, 3e3, 3e3));
    assert_eq!((covered.predicted_core_ms, covered.used_core_ms), (1_500.0, 750.0));
    assert_eq!((covered.predicted_mb_ms, covered.used_mb_ms), (2_048.0 * 3e3, 1_024.0 * 3e3));
    assert_eq!(report(1, 0.25, GB, START_MS + 3_000).predicted_ms, 0.0, "it was counted");
    let within_margin = report(2, 0.6, 2 * GB, START_MS + 4_000);
    assert_eq!(within_margin.cpu_covered_ms, 3e3);
    let above = report(3, 0.75, 2 * GB, START_MS + 6_000);
    assert_eq!((above.cpu_covered_ms, above.memory_covered_ms), (0.0, 3e3));

    let fresh = status(&mut service, START_MS + 6_000);
    assert_eq!((&fresh["agents_fresh"], &fresh["agents_silent"]), (&1.into(), &0.into()));
    assert_eq!((&fresh["containers"], &fresh["predicted_containers"]), (&1.into(), &1.into()));
    assert_eq!(fresh["mean_margin_percent"], 20.0);
    let measured = &fresh["nodes"][0]["measured"];
    assert_eq!(measured["planned"]["cpu_cores"], 0.5);
    assert_eq!(measured["queues"][0]["planned"]["memory_bytes"], 2.0 * GB as f64);

    let silent = status(&mut service, START_MS + 3_600_000);
    assert_eq!((&silent["agents_fresh"], &silent["agents_silent"]), (&0.into(), &1.into()));
}

/// More than one step of a snapshot has.
#[test]
fn a_status_has_every_node_and_every_application_that_waits() {
    let (mut service, _) = service();
    for number in 1..450 {
        service.node_added(&format!("other-{number}:1"), request(8));
    }
    for number in 0..250 {
        let application = submit(&mut service, &format!("application_1_{number:04}")).application;
        let ask = Ask { kind: KIND, priority: 0, request: request(1), count: 1 };
        service.pending(application, ask, START_MS);
    }

    let mut snapshot = service.status(START_MS);
    let mut steps = 1;
    while service.add_to_status(&mut snapshot) {
        steps += 1;
    }
    let whole = serde_json::to_value(snapshot.into_status()).unwrap();

    assert_eq!(steps, 9 + 3 + 1, "50 nodes or 100 applications at once; the last finds no more");
    let all = |list: &str, key: &str| -> Vec<String> {
        let entries = whole[list].as_array().unwrap().iter();
        entries.map(|it| it[key].as_str().unwrap().to_owned()).collect()
    };
    let waiting: Vec<_> = (0..250).map(|number| format!("application_1_{number:04}")).collect();
    assert_eq!(all("waiting", "application"), waiting);
    assert_eq!(all("nodes", "node").len(), 450);
    assert_eq!(whole["waiting_containers"], 250);
}
