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
    let Some(JournalEvent::Placed(placed)) = committed.record.clone().map(|it| it.event) else {
        panic!("a placement: {:?}", committed.record)
    };
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
    assert_eq!((reported.samples, reported.repeated), (1, 0));
    let again = service.report(NODE, &report, now_ms).unwrap();
    assert_eq!((again.samples, again.repeated), (0, 1));
    let due = service.due(now_ms);
    let news = due.checkpoint.unwrap();
    assert!(matches!(news[0], RunEvent::Whole(_)));
    assert!(matches!(news[1], RunEvent::Sampled { .. }));
    assert_eq!(due.ended, []);

    let finished = service.finished(CONTAINER, now_ms);
    assert!(matches!(finished.map(|record| record.event), Some(JournalEvent::Finished { .. })));
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
    let predicted = Predicted {
        demand: Demand::series(3_000, &[slot]).unwrap(),
        margin: 0.0,
        basis: Basis::Profile("nightly".into()),
    };
    service.foreseen(application, KIND, Some(predicted));
    service.pending(application, ask(1), START_MS);
    let placed = commit(&mut service, application, node);
    assert_eq!(placed.profile.as_deref(), Some("nightly"));
}
