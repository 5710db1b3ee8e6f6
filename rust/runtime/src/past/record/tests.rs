use elastane_core::ContainerKind;
use elastane_core::cluster::Request;

use super::*;

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
    past.submitted(application, subject, RunSettings::default(), 0);
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
        past.ended(application, i64::from(number) * 1_000 + 500);
        past.kept.containers += 10;
    }
    past.forget_beyond(30, usize::MAX);
    assert_eq!(past.all_ended().len(), 3);
    past.kept.containers += 1;
    past.forget_beyond(30, usize::MAX);
    // A record without containers takes none away: all are forgotten.
    assert_eq!((past.all_ended().len(), past.since_ms()), (0, Some(2_500)));
}

#[test]
fn a_run_that_closes_later_finds_its_application() {
    let mut past = recording();
    submit(&mut past, ONE);
    past.ended(ONE, 1_000);
    let series = RunSeries {
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
