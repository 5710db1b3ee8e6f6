#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use serde_json::{Value, json};

use super::*;
use crate::journal::{
    DeadlineNews, DeadlineState, MemoryPreemption, Preemption, PreemptionOutcome, Refused,
};

fn decisions() -> Decisions {
    Decisions::open(None, &Arc::default()).unwrap()
}

fn refused(application: &str, node: &str, time_ms: i64) -> Record {
    let (application, node) = (application.to_owned(), node.to_owned());
    Record {
        time_ms,
        queue: None,
        event: JournalEvent::Refused(Refused { application, node, reason: String::new() }),
    }
}

fn finished(container: &str, application: &str, node: &str) -> Record {
    let event = JournalEvent::Finished {
        container: container.to_owned(),
        node: node.to_owned(),
        application: application.to_owned(),
    };
    Record { time_ms: 0, queue: None, event }
}

fn in_queue(queue: &str, record: Record) -> Record {
    Record { queue: Some(queue.to_owned()), ..record }
}

/// The numbers of what is found, and where the next page begins.
fn find(decisions: &Decisions, wanted: Value) -> (Vec<u64>, Option<u64>) {
    let found = decisions.find(&serde_json::from_value(wanted).unwrap());
    (found.decisions.iter().map(|it| it.number).collect(), found.next_before)
}

#[test]
fn pages_lead_from_the_newest_to_the_oldest() {
    let decisions = decisions();
    let count = CHUNK as u64 * 2 + 7;
    decisions.record_all((0..count).map(|number| refused("a", "n", number as i64)));
    let (mut seen, mut before) = (Vec::new(), Value::Null);
    loop {
        let (page, next) = find(&decisions, json!({"limit": 300, "before": before}));
        seen.extend(page);
        let Some(next) = next else { break };
        before = next.into();
    }
    assert_eq!(seen, (0..count).rev().collect::<Vec<_>>());
}

#[test]
fn the_last_full_page_has_no_next_one() {
    let decisions = decisions();
    decisions.record_all((0..4).map(|number| refused("a", "n", number)));
    assert_eq!(find(&decisions, json!({"limit": 4})), (vec![3, 2, 1, 0], None));
    assert_eq!(find(&decisions, json!({"limit": 3})), (vec![3, 2, 1], Some(1)));
    assert_eq!(find(&decisions, json!({"limit": 3, "before": 1})), (vec![0], None));
}

#[test]
fn the_oldest_are_forgotten_and_numbers_go_on() {
    let decisions = decisions();
    let count = KEPT as u64 + 3;
    decisions.record_all((0..count).map(|number| refused("a", "n", number as i64)));
    let (all, next) = find(&decisions, json!({"limit": count}));
    assert_eq!((all.first(), all.last(), next), (Some(&(count - 1)), Some(&3), None));
    assert_eq!(find(&decisions, json!({"limit": 9, "before": 2})), (vec![], None));
}

#[test]
fn only_what_is_asked_for_is_found() {
    let decisions = decisions();
    decisions.record_all([
        refused("application_1", "node-1", 0),
        finished("container_1", "application_1", "node-2"),
        finished("container_2", "application_2", "node-1"),
    ]);
    let find = |wanted: Value| find(&decisions, wanted).0;
    assert_eq!(find(json!({"limit": 9, "application": "application_1"})), [1, 0]);
    assert_eq!(find(json!({"limit": 9, "node": "node-1"})), [2, 0]);
    assert_eq!(find(json!({"limit": 9, "container": "container_2"})), [2]);
    assert_eq!(find(json!({"limit": 9, "kind": "refused"})), [0]);
    assert_eq!(find(json!({"limit": 9, "kind": "finished", "node": "node-1"})), [2]);
    assert_eq!(find(json!({"limit": 9, "kind": "finished", "application": "a"})), [0_u64; 0]);
}

#[test]
fn a_queue_is_found_with_those_below_it() {
    let decisions = decisions();
    decisions.record_all([
        in_queue("root.etl", refused("a", "n", 0)),
        in_queue("root.etl.nightly", finished("c", "a", "n")),
        in_queue("root.etl2", refused("b", "n", 0)),
        refused("of an earlier version", "n", 0),
    ]);
    let find = |queue: &str| find(&decisions, json!({"limit": 9, "queue": queue})).0;
    assert_eq!(find("root"), [2, 1, 0]);
    assert_eq!(find("root.etl"), [1, 0]);
    assert_eq!(find("root.etl.nightly"), [1]);
    assert_eq!(find("root.et"), [0_u64; 0]);
}

#[test]
fn the_latest_queue_of_an_application_outlives_it() {
    let decisions = decisions();
    decisions.record(in_queue("root.first", refused("a", "n", 0)));
    decisions.record(in_queue("root.second", refused("a", "n", 0)));
    decisions.record(refused("a", "n", 0));
    decisions.record_all((0..CHUNK).map(|_| in_queue("root.other", refused("b", "n", 0))));
    assert_eq!(decisions.latest_queue_of("a").as_deref(), Some("root.second"));
    assert_eq!(decisions.latest_queue_of("c"), None);
}

#[test]
fn a_record_of_an_earlier_version_has_no_queue_and_stays_as_it_was() {
    let earlier =
        json!({"time_ms": 0, "kind": "refused", "application": "a", "node": "n", "reason": ""});
    let read: Record = serde_json::from_value(earlier.clone()).unwrap();
    assert_eq!(read.queue, None);
    assert_eq!(serde_json::to_value(read).unwrap(), earlier);
}

/// Every kind, with its JSON.
fn of_each_kind() -> Vec<(JournalEvent, Value)> {
    let preemption = MemoryPreemption {
        node: "n".into(),
        container: "c".into(),
        application: Some("a".into()),
        outcome: PreemptionOutcome::Told,
        resident_bytes: 0,
        short_bytes: 0,
        reason: String::new(),
    };
    let deadline = DeadlineNews {
        application: "a".into(),
        deadline_ms: 0,
        state: DeadlineState::Given,
        chance: None,
    };
    let bookable = JournalEvent::Bookable { node: "n".into(), ratio: 1.0, reason: "".into() };
    let learned = json!({"time_ms": 0, "kind": "learned", "application": "a", "profile": "p",
        "outcome": "succeeded", "runs": 1});
    let learned: Record = serde_json::from_value(learned).unwrap();
    let placed = json!({"time_ms": 0, "kind": "placed", "application": "a", "application_name": "n",
        "container": "c", "node": "n", "reason": "fits", "by_core": true, "application_master": false,
        "request_priority": 0, "profile": null, "score": null, "memory_bytes": 0, "vcores": 0,
        "booked_memory_bytes": 0, "booked_vcores": 0, "physical_memory_bytes": 0,
        "physical_vcores": 0});
    let placed: Record = serde_json::from_value(placed).unwrap();
    let by_capacity_scheduler = json!({"time_ms": 0, "kind": "preemption", "cause": "capacity-scheduler",
        "node": "n", "container": "c", "application": "a", "outcome": "told",
        "reason": ""});
    let by_capacity_scheduler: Record = serde_json::from_value(by_capacity_scheduler).unwrap();
    let events = [
        placed.event,
        by_capacity_scheduler.event,
        refused("a", "n", 0).event,
        finished("c", "a", "n").event,
        bookable,
        JournalEvent::Preemption(Box::new(Preemption::ForMemory(preemption))),
        JournalEvent::Reprovision(Box::default()),
        learned.event,
        JournalEvent::Deadline(deadline),
    ];
    events.into_iter().map(|event| (event.clone(), serde_json::to_value(event).unwrap())).collect()
}

#[test]
fn what_a_record_is_about_is_what_its_json_says() {
    for (event, json) in of_each_kind() {
        assert_eq!(event.kind(), json["kind"]);
        assert_eq!(event.application(), json.get("application").and_then(Value::as_str), "{json}");
        assert_eq!(event.container(), json.get("container").and_then(Value::as_str), "{json}");
        assert_eq!(event.node(), json.get("node").and_then(Value::as_str), "{json}");
    }
}

#[test]
fn a_preemption_says_whose_it_is() {
    let of_kind = |event: &&(JournalEvent, Value)| event.0.kind() == "preemption";
    let events = of_each_kind();
    let causes: Vec<_> = events.iter().filter(of_kind).map(|(_, json)| &json["cause"]).collect();
    assert_eq!(causes, ["capacity-scheduler", "short-of-memory"]);
}

#[test]
fn a_preemption_of_an_earlier_version_has_no_cause() {
    let earlier = json!({"time_ms": 0, "kind": "preemption", "node": "n", "container": "c",
        "application": "a", "outcome": "told", "resident_bytes": 1, "short_bytes": 2, "reason": ""});
    let read: Record = serde_json::from_value(earlier).unwrap();
    let JournalEvent::Preemption(read) = read.event else { panic!("{read:?}") };
    assert!(matches!(*read, Preemption::ForMemory(_)), "{read:?}");
}

#[test]
fn what_an_earlier_process_decided_comes_from_the_journal_and_from_the_file_that_it_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("decisions.jsonl");
    let nodes_of = |found: &FoundDecisions| -> Vec<_> {
        let nodes = found.decisions.iter().map(|it| it.record.event.node().unwrap().to_owned());
        nodes.collect()
    };
    let wanted = || serde_json::from_value(json!({"limit": 10})).unwrap();
    let mut earlier = Decisions::open(Some(file.clone()), &Arc::default()).unwrap();
    earlier.record_all([refused("a", "first", 1), finished("c", "a", "second")]);
    earlier.close();
    std::fs::rename(&file, replaced(&file)).unwrap();
    let usage = b"{\"time_ms\":3,\"kind\":\"node\",\"node\":\"n\"}\n{\"time_ms\":4,\"kind\"";
    std::fs::write(&file, usage).unwrap();
    let mut later = Decisions::open(Some(file.clone()), &Arc::default()).unwrap();
    later.record(refused("a", "third", 5));
    later.close();

    let counters = Arc::default();
    let last = Decisions::open(Some(file), &counters).unwrap();

    last.record(refused("a", "fourth", 6));
    let found = last.find(&wanted());
    assert_eq!(nodes_of(&found), ["fourth", "third", "second", "first"]);
    assert_eq!((found.newest, found.decisions[0].number), (Some(3), 3));
}

#[test]
fn only_the_end_of_a_long_journal_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("decisions.jsonl");
    let line =
        |node: usize| serde_json::to_string(&refused("a", &node.to_string(), 0)).unwrap() + "\n";
    std::fs::write(&file, (0..100).map(line).collect::<String>()).unwrap();
    let newest = former::newest(&file, 7);
    assert_eq!(
        (newest.len(), newest[0].event.node(), newest[6].event.node()),
        (7, Some("93"), Some("99"))
    );
    // A line that is read from its middle on is none.
    let bytes = 10 * line(99).len() as u64 + 5;
    let lines = former::read_lines_at_end(&file, bytes).unwrap();
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), 11);
    assert_eq!(lines[0], b'\n');
}
