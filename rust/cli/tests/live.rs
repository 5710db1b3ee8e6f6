//! `elastane status` and `explain` where there is no answer. `tests/integration/test_rest.py` runs them on a cluster.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{elastane, server, server_of};

const APPLICATION: &str = "application_1763736000000_0007";
const ENDED: &str = "container_1763736000000_0007_01_000002";
/// The answers about a container that has ended: its decisions, and its application.
const OF_ENDED: [&str; 2] = [
    "HTTP/1.0 200 OK\r\n\r\n{\"decisions\": [{\"number\": 3, \"time_ms\": 0, \"kind\": \"finished\", \
     \"container\": \"container_1763736000000_0007_01_000002\", \"node\": \"n:1\", \"application\": \"a\"}], \
     \"next_before\": null}",
    "HTTP/1.0 404 No\r\n\r\n{\"error\": \"it neither runs nor waits\"}",
];

/// Nobody listens there.
const NOBODY: &str = "http://127.0.0.1:1";

/// What the command says when a web server answers so.
fn told(answer: &str) -> (Option<i32>, String) {
    let (url, thread) = server(answer);
    let ended = elastane(&["status", "--resource-manager", &url]);
    thread.join().unwrap();
    (ended.code, ended.stderr.replace(&url, "URL"))
}

#[test]
fn what_nobody_answers_names_every_address() {
    let both = format!("{NOBODY},http://127.0.0.2:1/");
    let ended = elastane(&["explain", APPLICATION, "--resource-manager", &both]);
    assert_eq!(ended.code, Some(1));
    let start = "elastane: no ResourceManager answers (--resource-manager, ";
    assert!(ended.stderr.starts_with(start), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("{NOBODY}: curl: (7)")), "{}", ended.stderr);
    assert!(ended.stderr.contains("http://127.0.0.2:1: curl: (7)"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1);
}

#[test]
fn the_next_address_is_asked_where_one_is_not_reached() {
    let (standby, first) = server("HTTP/1.0 503 No\r\n\r\n{\"error\": \"not now\"}");
    let (url, second) = server("HTTP/1.0 400 No\r\n\r\n{\"error\": \"by a test\"}");
    let all = format!("{NOBODY},{standby},{url}");
    let ended = elastane(&["status", "--user", "alice", "--resource-manager", &all]);
    assert_eq!((ended.code, &*ended.stderr), (Some(2), "elastane: by a test\n"));
    for request in [first, second] {
        let request = request.join().unwrap();
        assert_eq!(request, "GET /elastane/v1/status?user.name=alice HTTP/1.1");
    }
}

#[test]
fn a_container_that_has_ended_is_told_by_its_decisions() {
    let (url, thread) = server_of(&OF_ENDED);
    let printed = elastane(&["explain", ENDED, "--resource-manager", &url]).printed();
    thread.join().unwrap();
    let expected = format!(
        "It neither runs nor waits any more\n\nThe latest decisions\n\
         1970-01-01T00:00:00.000Z  finished  {ENDED} on n:1\n"
    );
    assert_eq!(printed, expected);
}

/// A watching `explain` of this prints lines that start so, one after the other; `URL` stands for the server's.
fn assert_watched(arguments: &[&str], answers: &[&str], starts: &[&str]) {
    let (url, thread) = server_of(answers);
    let mut watching = Command::new(env!("CARGO_BIN_EXE_elastane"))
        .args(["explain", "--watch=1", "--resource-manager", &url])
        .args(arguments)
        .env("no_proxy", "*")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut starts: Vec<_> = starts.iter().map(|start| start.replace("URL", &url)).collect();
    for line in lines.take(20) {
        if line.starts_with(&starts[0]) {
            starts.remove(0);
        }
        if starts.is_empty() {
            break;
        }
    }
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert!(starts.is_empty(), "nothing was printed that starts with {starts:?}");
    thread.join().unwrap();
}

#[test]
fn what_is_watched_is_printed_again_whether_or_not_there_was_an_answer() {
    let [decisions, missing] = OF_ENDED;
    let failing = "HTTP/1.0 500 No\r\n\r\n{\"error\": \"not yet\"}";
    let starts =
        ["URL: 500: not yet", "It neither runs nor waits any more", "no ResourceManager answers"];
    assert_watched(&[ENDED], &[failing, decisions, missing], &starts);
}

#[test]
fn what_is_watched_may_be_missing_after_it_was_printed_and_not_before() {
    let node =
        "HTTP/1.0 200 OK\r\n\r\n{\"node\": \"n:1\", \"mode\": \"enforce\", \"containers\": []}";
    let missing = "HTTP/1.0 404 No\r\n\r\n{\"error\": \"there is no node n:1\"}";
    let starts =
        ["n:1: mode enforce", "not there (yet): there is no node n:1", "n:1: mode enforce"];
    assert_watched(&["n:1", "--decisions=0"], &[node, missing, node], &starts);

    let (url, thread) = server(missing);
    let arguments = ["explain", "n:1", "--decisions=0", "--watch=1", "--resource-manager", &url];
    assert_eq!(elastane(&arguments).refused(), "elastane: there is no node n:1\n");
    thread.join().unwrap();
}

#[test]
fn a_running_application_is_told_with_its_expected_end() {
    let decisions = "HTTP/1.0 200 OK\r\n\r\n{\"decisions\": [], \"next_before\": null}";
    let application = |end: &str| {
        format!(
            "HTTP/1.0 200 OK\r\n\r\n{{\"application\": \"{APPLICATION}\", \"name\": \"etl\", \"user\": \"u\", \
             \"queue\": \"root.a\", \"yarn_state\": \"RUNNING\", \"state\": \"running\", \"waiting\": null, \
             \"running_containers\": 2, \"booked_memory_mb\": 2048, \"booked_vcores\": 2, \
             \"progress_percent\": 50.0, \"containers\": [], \"predicted_end\": {end}}}"
        )
    };
    let told = |end: &str| {
        let (url, thread) = server_of(&[decisions, &application(end)]);
        let printed = elastane(&["explain", APPLICATION, "--resource-manager", &url]).printed();
        thread.join().unwrap();
        printed.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let end = "{\"at_ms\": 60000, \"earliest_ms\": 50000, \"latest_ms\": 75500, \"runs\": 1}";
    let expected = "It is expected to end at 1970-01-01T00:01:00.000Z, with a probability of 80 % between \
                    1970-01-01T00:00:50.000Z and 1970-01-01T00:01:15.500Z, by 1 earlier run";
    assert_eq!(told(end), ["It waits for no container", expected]);
    assert_eq!(told("null"), ["It waits for no container"]);
}

#[test]
fn a_container_is_told_with_its_limits() {
    const CONTAINER: &str = "container_1763736000000_0007_01_000002";
    let decisions = "HTTP/1.0 200 OK\r\n\r\n{\"decisions\": [], \"next_before\": null}";
    let told_with = |limits: &str, changes: &str| {
        let application = format!(
            "HTTP/1.0 200 OK\r\n\r\n{{\"containers\": [{{\"container\": \"{CONTAINER}\", \"limits\": {limits}, \
             \"limit_changes\": {changes}}}, {{\"container\": \"another\", \"limits\": []}}]}}"
        );
        let (url, thread) = server_of(&[decisions, &application]);
        let printed = elastane(&["explain", CONTAINER, "--resource-manager", &url]).printed();
        thread.join().unwrap();
        printed
    };
    let told = |limits: &str| told_with(limits, "[]");
    let limits = "[{\"limit\": \"cpu_weight_cores\", \"in_force\": null, \"planned\": 0.8, \"next\": 0.4, \
                  \"next_in_ms\": 21000, \"why\": \"why\"}, {\"limit\": \"memory_bytes\", \"in_force\": 3221225472, \
                  \"planned\": 1073741824, \"next\": null, \"next_in_ms\": null, \"why\": \"because\"}]";
    let expected = "\nIts limits\n  CPU weight: none in force, 0.80 planned, 0.40 in 21 s (cores): why\n  \
                    memory: 3.00 in force, 1.00 planned (GiB): because\n";
    let printed = told(limits);
    assert!(printed.ends_with(expected), "{printed}");
    assert!(told("[]").ends_with("\nNo limit is planned or in force\n"));
    assert!(
        told("null").ends_with("\nIts limits are not known: its node's agent has not reported\n")
    );

    let changes = "[{\"at_ms\": 60000, \"limit\": \"memory_bytes\", \"from\": 1073741824, \"to\": 3221225472, \
                   \"why\": \"it holds more\"}, {\"at_ms\": 3000, \"limit\": \"cpu_weight_cores\", \"from\": null, \
                   \"to\": 0.8, \"why\": \"the first\"}]";
    let expected = "\nHow they changed, newest first\n  \
                    1970-01-01T00:01:00.000Z  memory: from 1.00 to 3.00 (GiB): it holds more\n  \
                    1970-01-01T00:00:03.000Z  CPU weight: from none to 0.80 (cores): the first\n\
                    The audit file of the agent on the node has every write to the kernel (audit.file in agent.toml)\n";
    let printed = told_with("[]", changes);
    assert!(printed.ends_with(expected), "{printed}");
}

#[test]
fn what_a_web_server_refuses_is_told_in_one_line() {
    assert_eq!(
        told("HTTP/1.0 404 Not Found\r\n\r\n<html>no such page</html>"),
        (
            Some(1),
            "elastane: URL has no /elastane: its scheduler is not ElastaneScheduler, or has been in \
             mode off since its start; or it is still starting\n"
                .to_owned()
        )
    );
    assert_eq!(
        told("HTTP/1.0 403 Forbidden\r\n\r\n<html></html>"),
        (
            Some(1),
            "elastane: URL does not let the caller in: get a Kerberos ticket with kinit, or give a \
             name with --user or a token with --delegation-token\n"
                .to_owned()
        )
    );
    assert_eq!(
        told("HTTP/1.0 400 Bad Request\r\n\r\n{\"error\": \"limit is 'x'\"}"),
        (Some(2), "elastane: limit is 'x'\n".to_owned())
    );
    assert_eq!(
        told("HTTP/1.0 200 OK\r\n\r\nhello"),
        (Some(1), "elastane: URL answers with something else than JSON\n".to_owned())
    );
}

#[test]
fn a_subject_that_is_none_is_refused_before_anybody_is_asked() {
    let ended = elastane(&["explain", "etl"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("'etl'"), "{}", ended.stderr);
    assert!(ended.stderr.contains("no queue's path from root on"), "{}", ended.stderr);
}
