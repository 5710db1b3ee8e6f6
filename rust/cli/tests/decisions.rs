//! `elastane decisions`, and what holds for every subcommand
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use common::{elastane, text};
use elastane_core::cluster::PlacedReason;
use elastane_predict::Outcome;
use elastane_runtime::{
    ConsideredApplication, JournalEvent, MemoryPreemption, Placed, Preemption, PreemptionOutcome,
    Record, Refused,
};
use tempfile::TempDir;

const JOURNAL: &str = r#"{"kind":"bookable","time_ms":1763736000000,"node":"node-1:8041","ratio":2.0,"reason":"the agent reports"}
{"kind":"placed","time_ms":1763736001000,"application":"application_1763736000000_0001","application_name":"Nightly sales","container":"container_1763736000000_0001_01_000001","node":"node-1:8041","reason":"capacity-scheduler","by_core":false,"application_master":true,"profile":null,"score":null,"memory_bytes":1073741824,"vcores":1,"booked_memory_bytes":1073741824,"booked_vcores":1,"physical_memory_bytes":4294967296,"physical_vcores":4}
{"kind":"refused","time_ms":1763736002000,"application":"application_1763736000000_0001","node":"node-1:8041","reason":"cpu demand exceeds what is available by 0.50 cores from 6 s on"}
{"kind":"refused","time_ms":1763736003000,"application":"application_1763736000000_0001","node":"node-1:8041","reason":"cpu demand exceeds what is available by 0.25 cores from 3 s on"}
{"kind":"refused","time_ms":1763736003500,"application":"application_1763736000000_0002","node":"node-1:8041","reason":"memory demand exceeds what is available by 100.0 MiB"}
{"kind":"placed","time_ms":1763736005000,"application":"application_1763736000000_0001","application_name":"Nightly sales","container":"container_1763736000000_0001_01_000002","node":"node-2:8041","reason":"fits","by_core":true,"application_master":false,"profile":"tag|nightly","score":0.40625,"memory_bytes":2147483648,"vcores":1,"booked_memory_bytes":6442450944,"booked_vcores":5,"physical_memory_bytes":4294967296,"physical_vcores":4}
{"kind":"node","time_ms":1763736006000,"node":"node-2:8041"}
{"kind":"finished","time_ms":1763736065000,"container":"container_1763736000000_0001_01_000002","node":"node-2:8041"}
{"kind":"finished","time_ms":1763736066000,"container":"container_1763736000000_0002_01_000002","node":"node-2:8041"}
{"kind":"learned","time_ms":1763736070000,"application":"application_1763736000000_0001","profile":"tag|nightly","outcome":"succeeded","runs":3}
"#;

fn journal(content: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    fs::write(&path, content).unwrap();
    let path = text(&path).to_owned();
    (folder, path)
}

/// One that is met, and one of an application without a profile.
const DEADLINES: &str = r#"
{"kind":"deadline","time_ms":1763736071000,"application":"application_1763736000000_0003","deadline_ms":1763739600000,"state":"given","chance":0.973}
{"kind":"deadline","time_ms":1763736072000,"application":"application_1763736000000_0003","deadline_ms":1763739600000,"state":"met","chance":null}
{"kind":"deadline","time_ms":1763736073000,"application":"application_1763736000000_0004","deadline_ms":1763739600000,"state":"given","chance":null}
{"kind":"deadline","time_ms":1763736074000,"application":"application_1763736000000_0004","deadline_ms":1763739600000,"state":"missed","chance":null}
"#;

#[test]
fn a_deadline_is_told_with_its_chance_and_its_end() {
    let (_folder, path) = journal(DEADLINES);
    let told = |application| {
        let arguments = ["decisions", "--journal", &path, "--application", application];
        elastane(&arguments).printed()
    };
    let expected = "\
2025-11-21T14:41:11.000Z  deadline  application_1763736000000_0003, 2025-11-21T15:40:00.000Z: \
it is met with a probability of 97 % if all executors start now
2025-11-21T14:41:12.000Z  deadline  application_1763736000000_0003, 2025-11-21T15:40:00.000Z: met
";
    assert_eq!(told("application_1763736000000_0003"), expected);
    let expected = "\
2025-11-21T14:41:13.000Z  deadline  application_1763736000000_0004, 2025-11-21T15:40:00.000Z: \
whether it can be met is not known, no profile is known
2025-11-21T14:41:14.000Z  deadline  application_1763736000000_0004, 2025-11-21T15:40:00.000Z: missed
";
    assert_eq!(told("application_1763736000000_0004"), expected);
}

#[test]
fn decisions_are_shown_by_container_node_and_kind() {
    let (_folder, path) = journal(JOURNAL);
    let told = |wanted: &[&str]| {
        let arguments = [&["decisions", "--journal", &path][..], wanted].concat();
        let printed = elastane(&arguments).printed();
        printed.lines().map(|line| line[26..34].trim_end().to_owned()).collect::<Vec<_>>()
    };
    const CONTAINER: &str = "container_1763736000000_0001_01_000002";
    let of_container = told(&["--container", CONTAINER]);
    assert_eq!(of_container, ["placed", "finished"]);
    assert_eq!(told(&["--container", CONTAINER, "--kind", "finished"]).len(), 1);
    assert_eq!(told(&["--node", "node-2:8041"]).len(), 3);
    assert_eq!(told(&["--node", "node-1:8041", "--kind", "placed"]).len(), 1);
    let application = ["--application", "application_1763736000000_0001", "--kind", "finished"];
    assert_eq!(told(&application).len(), 1);

    let none = ["decisions", "--journal", &path, "--node", "node-3:8041", "--kind", "placed"];
    let refused = elastane(&none).refused();
    assert!(refused.contains("nothing is recorded about node-3:8041, kind placed"), "{refused}");
    assert_eq!(elastane(&["decisions", "--journal", &path, "--kind", "plcaed"]).code, Some(2));
}

#[test]
fn decisions_are_shown_by_queue_with_those_below_it() {
    let of = |application: u32, queue: &str| {
        format!(
            "{{\"kind\":\"refused\",\"time_ms\":1763736002000,{queue}\"application\":\
             \"application_1_000{application}\",\"node\":\"n:1\",\"reason\":\"no room\"}}\n"
        )
    };
    let content = [
        of(1, "\"queue\":\"root.etl\","),
        of(2, "\"queue\":\"root.etl.nightly\","),
        of(3, "\"queue\":\"root.etl2\","),
        // An earlier version's.
        of(4, ""),
    ];
    let (_folder, path) = journal(&content.concat());
    let told = |wanted: &[&str]| {
        let printed =
            elastane(&[&["decisions", "--journal", &path][..], wanted].concat()).printed();
        printed.lines().map(|line| line[36..54].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&["--queue", "root.etl"]), ["application_1_0001", "application_1_0002"]);
    assert_eq!(told(&["--queue", "root.etl.nightly"]), ["application_1_0002"]);
    assert_eq!(told(&["--queue", "root"]).len(), 3);
    assert_eq!(told(&[]).len(), 4);

    let none = ["decisions", "--journal", &path, "--queue", "root.other", "--kind", "placed"];
    let refused = elastane(&none).refused();
    let expected = "nothing is recorded about queue root.other, kind placed";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn an_application_is_told_why_it_waited_and_why_it_went_where() {
    let (_folder, path) = journal(JOURNAL);
    let application = "application_1763736000000_0001";
    let arguments = ["decisions", "--journal", &path, "--application", application];
    let expected = "\
2025-11-21T14:40:01.000Z  placed    container_1763736000000_0001_01_000001 on node-1:8041: \
application master of application_1763736000000_0001 (Nightly sales), 1.0 GiB and 1 vcore; \
CapacityScheduler placed it as it would alone; \
booked on the node: 1.0 GiB of 4.0 GiB, 1 of 4 vcores
2025-11-21T14:40:02.000Z  waited    application_1763736000000_0001 was not placed on \
node-1:8041: cpu demand exceeds what is available by 0.25 cores from 3 s on \
(2 times until 2025-11-21T14:40:03.000Z)
2025-11-21T14:40:05.000Z  placed    container_1763736000000_0001_01_000002 on node-2:8041: \
executor of application_1763736000000_0001 (Nightly sales), 2.0 GiB and 1 vcore; \
fits for all of its life by its profile tag|nightly, score 0.4062; \
booked on the node: 6.0 GiB of 4.0 GiB, 5 of 4 vcores
2025-11-21T14:41:05.000Z  finished  container_1763736000000_0001_01_000002 on node-2:8041
2025-11-21T14:41:10.000Z  learned   application_1763736000000_0001, succeeded: \
the profile is made of 3 runs: tag|nightly
";
    assert_eq!(elastane(&arguments).printed(), expected);
}

#[test]
fn without_an_application_everything_is_told() {
    let (_folder, path) = journal(JOURNAL);
    let printed = elastane(&["decisions", "--journal", &path]).printed();
    assert_eq!(printed.lines().count(), 8, "{printed}");
    assert!(printed.contains("bookable  node-1:8041: 2.00 times its registered size"));
}

#[test]
fn what_gave_way_for_want_of_memory_is_told_with_how_much() {
    let preemption = MemoryPreemption {
        node: "node-1:8041".to_owned(),
        container: "container_1_0001_01_000002".to_owned(),
        application: Some("application_1_0001".to_owned()),
        outcome: PreemptionOutcome::Preempted,
        resident_bytes: 2 << 30,
        short_bytes: 500 << 20,
        reason: "it came last".to_owned(),
    };
    let event = JournalEvent::Preemption(Box::new(Preemption::ForMemory(preemption)));
    let record = Record { time_ms: 1_763_736_000_000, queue: None, event };
    let line = serde_json::to_string(&record).unwrap();
    let (_folder, path) = journal(&line);
    let application = "application_1_0001";
    let arguments = ["decisions", "--journal", &path, "--application", application];
    assert_eq!(
        elastane(&arguments).printed(),
        "2025-11-21T14:40:00.000Z  memory    container_1_0001_01_000002 on node-1:8041: \
preempted; it holds 2.0 GiB, the node is short of 500.0 MiB; it came last\n"
    );
}

#[test]
fn a_preemption_by_capacity_scheduler_is_told_apart() {
    let line = r#"{"kind":"preemption","time_ms":1763736000000,"cause":"capacity-scheduler","node":"node-1:8041","container":"container_1_0001_01_000002","application":"application_1_0001","queue":"root.a","outcome":"preempted","reason":"the preemption monitor takes it from queue root.a"}"#;
    let (_folder, path) = journal(line);
    let arguments = ["decisions", "--journal", &path, "--application", "application_1_0001"];
    assert_eq!(
        elastane(&arguments).printed(),
        "2025-11-21T14:40:00.000Z  preempt   container_1_0001_01_000002 on node-1:8041: \
preempted by CapacityScheduler; the preemption monitor takes it from queue root.a\n"
    );
}

#[test]
fn an_executor_that_is_to_leave_is_told_with_what_became_of_it() {
    let line = |state| {
        format!(
            r#"{{"kind":"migration","time_ms":1763736000000,"node":"node-1:8041","container":"c_2","application":"a_1","state":"{state}","reason":"the node is short"}}"#
        )
    };
    let (_folder, path) = journal(&["leaves", "not-handled"].map(line).join("\n"));
    let arguments = ["decisions", "--journal", &path, "--application", "a_1"];
    assert_eq!(
        elastane(&arguments).printed(),
        "\
2025-11-21T14:40:00.000Z  migrate   c_2 on node-1:8041: its executor leaves: it takes no more tasks; the node is short
2025-11-21T14:40:00.000Z  migrate   c_2 on node-1:8041: stays: its JVM does not handle SIGPWR \
(spark.decommission.enabled is off, or it is young); the node is short
"
    );
}

/// The windows of one executor, without what is null in them.
const REPROVISIONED: &str = r#"{"kind":"reprovision","time_ms":1763736000000,"node":"node-1:8041","container":"c_2","application":"a_1","what":"opened","slowness":1.25,"slow":"behind","predicted":{"cpu_cores":0.5,"memory_bytes":1073741824.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":0.0},"lent":{"cpu_cores":2.5,"memory_bytes":3221225472.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":2e6}}
{"kind":"reprovision","time_ms":1763736003000,"node":"node-1:8041","container":"c_2","application":"a_1","what":"returned","reason":"no measurement of the container arrived in time"}
{"kind":"reprovision","time_ms":1763736063000,"node":"node-1:8041","container":"c_2","application":"a_1","what":"opened","slowness":2.0,"slow":"throttled","predicted":{"cpu_cores":0.5,"memory_bytes":1073741824.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":0.0},"lent":{"cpu_cores":2.5,"memory_bytes":3221225472.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":2e6}}
{"kind":"reprovision","time_ms":1763736066000,"node":"node-1:8041","container":"c_2","application":"a_1","what":"measured","used":{"cpu_cores":0.75,"memory_bytes":1073741824.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":0.0},"predicted":{"cpu_cores":0.5,"memory_bytes":1073741824.0,"network_bytes_per_s":0.0,"disk_bytes_per_s":0.0},"factors":[1.5,1.0,1.0,1.0]}
{"kind":"reprovision","time_ms":1763736126000,"node":"node-1:8041","container":"c_2","application":"a_1","what":"too-little-left","slowness":2.0,"slow":"throttled","reason":"the node has 0.050 of cpu left, 1.000 is predicted (cores or bytes per second): run its tasks elsewhere"}
"#;

#[test]
fn what_a_slow_executor_got_is_told_with_how_it_was_slow() {
    let (_folder, path) = journal(REPROVISIONED);
    let printed = elastane(&["decisions", "--journal", &path]).printed();
    let sentences = printed.lines().map(|line| line.split_once(": ").unwrap().1);
    let expected = [
        "takes 1.25 times as long as expected and gets all that is left: 2.50 cores, 3.0 GiB, \
         network 0 B/s, disk 2.0 MB/s beside 0.50 cores, 1.0 GiB, network 0 B/s, disk 0 B/s",
        "returned what it was lent: no measurement of the container arrived in time",
        "takes 2.00 times as long as without its CPU limit and gets all that is left: 2.50 cores, 3.0 GiB, \
         network 0 B/s, disk 2.0 MB/s beside 0.50 cores, 1.0 GiB, network 0 B/s, disk 0 B/s",
        "used 0.75 cores, 1.0 GiB, network 0 B/s, disk 0 B/s of 0.50 cores, 1.0 GiB, network 0 B/s, \
         disk 0 B/s predicted; the rest of its demand is 1.50, 1.00, 1.00, 1.00 times its \
         prediction (CPU, memory, network, disk)",
        "takes 2.00 times as long as without its CPU limit, and stays slow: the node has 0.050 of \
         cpu left, 1.000 is predicted (cores or bytes per second): run its tasks elsewhere",
    ];
    assert_eq!(sentences.collect::<Vec<_>>(), expected);
}

#[test]
fn json_gives_the_records_as_they_are() {
    let (_folder, path) = journal(JOURNAL);
    let all = elastane(&["decisions", "--json", "--journal", &path]).printed();
    assert_eq!(all, JOURNAL);
    let application = "application_1763736000000_0002";
    let arguments = ["decisions", "--json", "--journal", &path, "--application", application];
    let one = elastane(&arguments).printed();
    assert_eq!(one.lines().collect::<Vec<_>>(), [JOURNAL.lines().nth(4).unwrap()]);
}

#[test]
fn a_line_that_was_cut_is_said_and_the_rest_is_told() {
    let (_folder, path) = journal(&JOURNAL[..JOURNAL.len() - 20]);
    let ended = elastane(&["decisions", "--journal", &path]);
    assert_eq!(ended.stderr, format!("elastane: {path}: 1 line cannot be read\n"));
    assert_eq!(ended.printed().lines().count(), 7);
}

#[test]
fn what_is_no_journal_is_refused() {
    let (_folder, path) = journal("no journal\nat all\n");
    let refused = elastane(&["decisions", "--journal", &path]).refused();
    assert!(refused.ends_with("no journal, 2 lines cannot be read\n"), "{refused}");
}

#[test]
fn an_application_without_a_record_is_refused() {
    let (_folder, path) = journal(JOURNAL);
    let arguments = ["decisions", "--journal", &path, "--application", "application_1_0001"];
    let refused = elastane(&arguments).refused();
    assert!(refused.contains("nothing is recorded about application_1_0001"), "{refused}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let (_folder, path) = journal(&JOURNAL.repeat(2_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_elastane"))
        .args(["decisions", "--journal", &path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 10]).unwrap();
    drop(output);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn version_and_examples_are_there() {
    let version = elastane(&["--version"]).printed();
    assert_eq!(version, format!("elastane {}\n", env!("CARGO_PKG_VERSION")));
    for subcommand in ["what-if", "profiles", "depository", "decisions"] {
        let help = elastane(&[subcommand, "--help"]).printed();
        assert!(help.contains(&format!("Examples:\n  elastane {subcommand} ")), "{help}");
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    for arguments in [&[][..], &["nothing"], &["decisions"], &["profiles", "list"]] {
        assert_eq!(elastane(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn what_the_scheduler_writes_is_what_is_read() {
    let (time_ms, application) = (1_763_736_000_000, "application_1_0001".to_owned());
    let (container, node) = ("container_1_0001_01_000001".to_owned(), "n:1".to_owned());
    let events = [
        JournalEvent::Bookable {
            node: node.clone(),
            ratio: 2.0,
            reason: "the agent reports".into(),
        },
        JournalEvent::Refused(Refused {
            application: application.clone(),
            node: node.clone(),
            reason: "cpu is short".to_owned(),
        }),
        JournalEvent::Placed(Box::new(Placed {
            application: application.clone(),
            application_name: "sales".to_owned(),
            container: container.clone(),
            node: node.clone(),
            reason: PlacedReason::Fits,
            by_core: true,
            application_master: true,
            request_priority: None,
            profile: Some("tag|sales".to_owned()),
            by_others: false,
            score: Some(0.25),
            considered: [(Some(&application), 0.25, "may-go"), (None, 0.5, "would-delay-another")]
                .map(|(id, score, verdict)| ConsideredApplication {
                    application: id.cloned(),
                    score,
                    verdict: verdict.into(),
                })
                .to_vec(),
            memory_bytes: 1 << 30,
            vcores: 3,
            booked_memory_bytes: 2 << 30,
            booked_vcores: 4,
            physical_memory_bytes: 5 << 30,
            physical_vcores: 6,
        })),
        JournalEvent::Finished { container, node, application: application.clone() },
        JournalEvent::Learned {
            application,
            profile: "tag|sales".to_owned(),
            outcome: Outcome::Succeeded,
            runs: 2,
        },
    ];
    let line =
        |event| serde_json::to_string(&Record { time_ms, queue: None, event }).unwrap() + "\n";
    let lines = events.map(line);
    let (_folder, path) = journal(&lines.concat());
    let expected = "\
2025-11-21T14:40:00.000Z  bookable  n:1: 2.00 times its registered size: the agent reports
2025-11-21T14:40:00.000Z  waited    application_1_0001 was not placed on n:1: cpu is short
2025-11-21T14:40:00.000Z  placed    container_1_0001_01_000001 on n:1: \
application master of application_1_0001 (sales), 1.0 GiB and 3 vcores; \
fits for all of its life by its profile tag|sales, score 0.2500; considered beside it, best first: \
another application (0.5000, would delay a planned start); \
booked on the node: 2.0 GiB of 5.0 GiB, 4 of 6 vcores
2025-11-21T14:40:00.000Z  finished  container_1_0001_01_000001 on n:1
2025-11-21T14:40:00.000Z  learned   application_1_0001, succeeded: \
the profile is made of 2 runs: tag|sales
";
    let printed = elastane(&["decisions", "--journal", &path]).printed();
    assert_eq!(printed, expected);
}
