//! `elastane explain` of a container that gave way, moved or was corrected, and of a queue: what it says of the decisions.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{Ended, elastane, server_of};
use elastane_runtime::{
    CapacityPreemption, CapacityPreemptionCause, CapacityPreemptionOutcome, JournalEvent,
    MemoryPreemption, Migration, MigrationCause, MigrationState, Preemption, PreemptionOutcome,
    Record, Refused, Reprovision,
};

const APPLICATION: &str = "application_1763736000000_0007";
const CONTAINER: &str = "container_1763736000000_0007_01_000002";
const NODE: &str = "n:1";

fn answer(body: &str) -> String {
    format!("HTTP/1.0 200 OK\r\n\r\n{body}")
}

/// The answer of the ring with these, which are given oldest first.
fn decisions(events: Vec<JournalEvent>) -> String {
    let records = events.into_iter().enumerate().rev();
    let records =
        records.map(|(at_s, event)| Record { time_ms: at_s as i64 * 1_000, queue: None, event });
    let records: Vec<_> = records.map(|it| serde_json::to_value(it).unwrap()).collect();
    answer(&serde_json::json!({"decisions": records, "next_before": null}).to_string())
}

/// What is told of the container after its end: the lines with its decisions.
fn told(events: Vec<JournalEvent>) -> Vec<String> {
    let ended = "HTTP/1.0 404 No\r\n\r\n{\"error\": \"it neither runs nor waits\"}";
    let (url, thread) = server_of(&[&decisions(events), ended]);
    let printed = elastane(&["explain", CONTAINER, "--resource-manager", &url]).printed();
    assert!(thread.join().unwrap().contains(&format!("applications/{APPLICATION}")));
    printed.lines().skip(3).map(|line| line[26..].to_owned()).collect()
}

#[test]
fn a_container_that_was_preempted_is_told_by_whom_and_why() {
    let for_memory = |outcome| {
        JournalEvent::Preemption(Box::new(Preemption::ForMemory(MemoryPreemption {
            node: NODE.to_owned(),
            container: CONTAINER.to_owned(),
            application: Some(APPLICATION.to_owned()),
            outcome,
            resident_bytes: 2 << 30,
            short_bytes: 1 << 30,
            reason: "it started last".to_owned(),
        })))
    };
    let by_capacity_scheduler =
        JournalEvent::Preemption(Box::new(Preemption::ByCapacityScheduler(CapacityPreemption {
            cause: CapacityPreemptionCause::CapacityScheduler,
            node: NODE.to_owned(),
            container: CONTAINER.to_owned(),
            application: APPLICATION.to_owned(),
            outcome: CapacityPreemptionOutcome::Preempted,
            reason: "queue root.a is above its guarantee".to_owned(),
        })));
    let told = told(vec![
        for_memory(PreemptionOutcome::Told),
        for_memory(PreemptionOutcome::Preempted),
        by_capacity_scheduler,
    ]);
    let why = "it holds 2.0 GiB, the node is short of 1.0 GiB; it started last";
    let expected = [
        format!(
            "memory    {CONTAINER} on {NODE}: its application master is told that it will be preempted; {why}"
        ),
        format!("memory    {CONTAINER} on {NODE}: preempted; {why}"),
        format!(
            "preempt   {CONTAINER} on {NODE}: preempted by CapacityScheduler; queue root.a is above its guarantee"
        ),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_container_that_was_to_leave_is_told_why_and_whether_it_does() {
    let migration = |state, reason: &str| {
        JournalEvent::Migration(Box::new(Migration {
            node: NODE.to_owned(),
            container: CONTAINER.to_owned(),
            application: APPLICATION.to_owned(),
            state,
            cause: MigrationCause::NodeDrained,
            reason: reason.to_owned(),
        }))
    };
    let told = told(vec![
        migration(MigrationState::NotHandled, "its node is being decommissioned"),
        migration(MigrationState::Leaves, "its node is being decommissioned"),
    ]);
    let expected = [
        format!(
            "migrate   {CONTAINER} on {NODE}: stays: its JVM does not handle SIGPWR \
             (spark.decommission.enabled is off, or it is young); its node is being decommissioned"
        ),
        format!(
            "migrate   {CONTAINER} on {NODE}: its executor leaves: it takes no more tasks; its node is being \
             decommissioned"
        ),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_container_that_was_corrected_is_told_by_how_much() {
    let reprovision = Reprovision {
        node: NODE.to_owned(),
        container: CONTAINER.to_owned(),
        application: APPLICATION.to_owned(),
        what: "unused".into(),
        factors: Some([0.5, 1.0, 1.0, 1.0]),
        ..Reprovision::default()
    };
    let stays_slow = Reprovision {
        what: "too-little-left".into(),
        slowness: Some(1.5),
        reason: Some("the node has 0.1 of cpu left".to_owned()),
        ..reprovision.clone()
    };
    let told =
        told([reprovision, stays_slow].map(|it| JournalEvent::Reprovision(Box::new(it))).into());
    let expected = [
        format!(
            "slow      {CONTAINER} on {NODE}: the rest of its demand is 0.50, 1.00, 1.00, 1.00 times its \
             prediction (CPU, memory, network, disk)"
        ),
        format!(
            "slow      {CONTAINER} on {NODE}: takes 1.50 times as long as expected, and stays slow: the node has \
             0.1 of cpu left"
        ),
    ];
    assert_eq!(told, expected);
}

/// What `explain` of a queue says by the answers behind the one with the queue, and its last request.
fn of_queue(answers: &[&str], arguments: &[&str]) -> (Ended, String) {
    let queues = answer(
        "{\"queues\": [{\"queue\": \"root.a\", \"mode\": \"enforce\", \"state\": \"RUNNING\", \
         \"applications\": 1, \"labels\": []}]}",
    );
    let (url, thread) = server_of(&[&[&*queues], answers].concat());
    let ended = elastane(&[&["explain", "root.a", "--resource-manager", &url], arguments].concat());
    (ended, thread.join().unwrap())
}

#[test]
fn a_queue_is_told_with_the_decisions_about_its_applications() {
    let refused = JournalEvent::Refused(Refused {
        application: APPLICATION.to_owned(),
        node: NODE.to_owned(),
        reason: "first".to_owned(),
    });
    let nothing_waits = answer("{\"applications\": [], \"total\": 0}");
    let (ended, request) = of_queue(&[&nothing_waits, &decisions(vec![refused])], &[]);
    let expected = format!(
        "root.a: mode enforce, RUNNING, 1 application in it and below\n\n\
         The latest decisions about its applications\n\
         1970-01-01T00:00:00.000Z  waited    {APPLICATION} was not placed on {NODE}: first\n"
    );
    assert_eq!(ended.printed(), expected);
    assert!(request.contains("decisions?queue=root.a&limit=100"), "{request}");
}

#[test]
fn decisions_that_the_caller_may_not_see_are_made_up_for_by_older_ones() {
    let refused = JournalEvent::Refused(Refused {
        application: APPLICATION.to_owned(),
        node: NODE.to_owned(),
        reason: "first".to_owned(),
    });
    let nothing_waits = answer("{\"applications\": [], \"total\": 0}");
    let hidden = answer("{\"decisions\": [], \"next_before\": 7}");
    let (ended, request) =
        of_queue(&[&nothing_waits, &hidden, &decisions(vec![refused])], &["--decisions=1"]);
    let printed = ended.printed();
    assert!(printed.ends_with("was not placed on n:1: first\n"), "{printed}");
    assert!(request.contains("decisions?queue=root.a&limit=100&before=7"), "{request}");
}

#[test]
fn a_queue_is_told_with_the_limits_of_capacity_scheduler_that_its_applications_wait_for() {
    let waits = answer(&format!(
        "{{\"applications\": [{{\"application\": \"{APPLICATION}\", \"name\": \"etl\", \
         \"waiting\": {{\"capacity_scheduler_says\": \"queue root.a has all\"}}}}], \"total\": 1}}"
    ));
    let (ended, _) = of_queue(&[&waits], &["--decisions=0"]);
    let printed = ended.printed();
    assert!(printed.ends_with("\n  CapacityScheduler says: queue root.a has all\n"), "{printed}");
}

#[test]
fn a_queue_is_told_with_how_many_that_wait_were_left_out() {
    let one = |total: u32| {
        answer(&format!(
            "{{\"applications\": [{{\"application\": \"{APPLICATION}\", \"name\": \"etl\", \"waiting\": {{}}}}], \
             \"total\": {total}}}"
        ))
    };
    let (ended, _) = of_queue(&[&one(3), &decisions(Vec::new())], &[]);
    let printed = ended.printed();
    let end = "\nNot shown: 2 older applications wait too\n\n\
               No decisions about its applications, or none that you may see\n";
    assert!(printed.ends_with(end), "{printed}");

    let (ended, request) = of_queue(&[&one(1)], &["--decisions=0"]);
    let printed = ended.printed();
    assert!(printed.lines().last().unwrap().starts_with(APPLICATION), "{printed}");
    assert!(request.contains("state=waiting"), "{request}");
}

#[test]
fn a_queue_is_not_told_while_it_is_not_known_what_waits() {
    let not_now = "HTTP/1.0 503 No\r\n\r\n{\"error\": \"the core is out of service\"}";
    let (ended, _) = of_queue(&[not_now], &["--decisions=0"]);
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""));
    assert!(ended.stderr.contains("the core is out of service"), "{}", ended.stderr);
}
