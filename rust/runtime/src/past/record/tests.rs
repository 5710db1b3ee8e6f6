use elastane_core::ContainerKind;
use elastane_core::cluster::{Application, CommitRequest, Demands, NodeId, Request};

use super::*;
use crate::settings::ServiceSettings;

const ONE: ApplicationId = ApplicationId(1);

fn recording() -> Past {
    Past { since_ms: Some(0), ..Past::default() }
}

fn submit(past: &mut Past, application: ApplicationId) {
    let subject = LedgerSubject {
        application_id: format!("application_1_{}", application.0),
        queue: "root.a".to_owned(),
        application_key: String::new(),
        application_name: "name".to_owned(),
        user: "ada".to_owned(),
    };
    past.submitted(application, subject, 0);
}

fn one_node() -> Cluster {
    let settings = ServiceSettings::default();
    let policy = elastane_core::policy::named(&settings.policy, settings.policy_options).unwrap();
    let mut cluster = Cluster::new(settings.cluster, policy);
    cluster.node_added("node:1", Request { memory_bytes: 8 << 30, vcores: 8 });
    cluster.application_added(Application::new("other", "", "root.a", Demands::default(), 0));
    cluster.application_added(Application::new("one", "", "root.a", Demands::default(), 0));
    cluster
}

fn start(cluster: &mut Cluster, id: &str, start_ms: i64) -> Container {
    cluster.commit(
        CommitRequest {
            container: id,
            application: ONE,
            node: NodeId(0),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: Request { memory_bytes: 1 << 30, vcores: 1 },
            may_refuse: false,
            start_ms,
        },
        start_ms,
    );
    cluster.container(id).unwrap().clone()
}

fn ask(past: &mut Past, count: u32, now_ms: i64) {
    let request = Request { memory_bytes: 1 << 30, vcores: 1 };
    let ask = Ask { kind: ContainerKind::DEFAULT_EXECUTOR, priority: 0, request, count };
    past.asked(ONE, &ask, now_ms);
}

#[test]
fn nothing_is_recorded_before_a_mode_is_advise() {
    let mut past = Past::default();
    submit(&mut past, ONE);
    ask(&mut past, 2, 10);
    assert_eq!((past.since_ms(), past.all_running()), (None, Vec::new()));
}

#[test]
fn the_oldest_applications_are_forgotten_and_the_record_begins_later() {
    let mut past = recording();
    for number in 0..3 {
        let application = ApplicationId(number);
        submit(&mut past, application);
        past.ended(application, None, i64::from(number) * 1_000 + 500);
    }
    past.forget_beyond(3, usize::MAX);
    assert_eq!(past.all_ended().len(), 3);
    past.forget_beyond(2, usize::MAX);
    // One without containers counts as one.
    assert_eq!((past.all_ended().len(), past.since_ms()), (2, Some(500)));
    past.kept.slots = 100;
    past.forget_beyond(2, 99);
    assert_eq!((past.all_ended().len(), past.since_ms()), (1, Some(1_500)), "the newest stays");
}

#[test]
fn a_container_that_yarn_refused_did_not_run_and_is_asked_for_as_before() {
    let (mut past, mut cluster) = (recording(), one_node());
    submit(&mut past, ONE);
    ask(&mut past, 1, 10);
    for (id, start_ms) in [("refused", 1_000), ("runs", 5_000)] {
        let container = start(&mut cluster, id, start_ms);
        past.started(id, &container);
        if id == "refused" {
            past.finished(id, start_ms + 1);
        }
    }
    past.ended(ONE, None, 60_000);
    let ended = past.all_ended();
    let containers: Vec<_> =
        ended[0].containers.iter().map(|it| (it.asked_ms, it.started_ms, it.ended_ms)).collect();
    assert_eq!(containers, [(10, 5_000, Some(60_000))]);
}

#[test]
fn a_container_keeps_the_label_that_its_node_had_when_it_started() {
    let (mut past, mut cluster) = (recording(), one_node());
    submit(&mut past, ONE);
    cluster.node_labelled(NodeId(0), "gpu");
    let container = start(&mut cluster, "one", 1_000);
    past.started("one", &container);
    cluster.node_labelled(NodeId(0), "");
    let second = start(&mut cluster, "two", 2_000);
    past.started("two", &second);
    let labels: Vec<_> =
        past.running(ONE).unwrap().containers.iter().map(|it| it.label.to_string()).collect();
    assert_eq!(labels, ["gpu", ""]);
}

#[test]
fn a_run_that_closes_later_finds_its_application() {
    let mut past = recording();
    submit(&mut past, ONE);
    past.ended(ONE, None, 1_000);
    let series = RunSeries {
        stage_ends_ms: Vec::new(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        containers: 1,
        slots: vec![elastane_core::Resources::ZERO; 4],
    };
    past.closed(&[Run {
        application_key: "key".to_owned(),
        application_id: "application_1_1".to_owned(),
        application_name: "name".to_owned(),
        started_ms: 0,
        ended_ms: 1_000,
        outcome: elastane_runs::Outcome::Succeeded,
        series: vec![series],
    }]);
    let ended = past.all_ended();
    assert_eq!(ended[0].subject.application_key, "key");
    assert_eq!(ended[0].series.as_ref().map(|it| it[0].slots.len()), Some(4));
    assert_eq!(past.kept.slots, 4);
}
