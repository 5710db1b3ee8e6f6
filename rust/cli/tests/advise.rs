//! `elastane advise`, answered by a made-up ResourceManager.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{Ended, assert_contains, elastane, server, server_of};
use serde_json::{Value, json};

const MINUTE_MS: i64 = 60_000;
const SINCE_MS: i64 = 1_795_770_720_000;
const AS_OF_MS: i64 = SINCE_MS + 190 * MINUTE_MS;

fn application(number: u32, enforce_completion_s: f64) -> Value {
    json!({
        "id": format!("application_1795283369712_{number:04}"), "name": format!("etl <{number}>"),
        "user": "ann", "queue": "root.etl", "submitted_ms": SINCE_MS, "containers": 40,
        "containers_earlier": 16, "mean_earlier_s": 43.2, "recorded_completion_s": 204.0,
        "capacity_completion_s": 207.0, "enforce_completion_s": enforce_completion_s, "recorded_node_hours": 0.92,
        "capacity_node_hours": 0.9, "enforce_node_hours": 0.7,
    })
}

fn figures(mean_completion_s: f64, node_hours: f64) -> Value {
    json!({
        "makespan_s": 11_400.0, "mean_completion_s": mean_completion_s, "mean_wait_s": 9.46,
        "node_hours": node_hours,
    })
}

fn advice() -> Value {
    let applications: Vec<Value> =
        (1..=12).map(|number| application(number, 140.0 + f64::from(number))).collect();
    json!({
        "as_of_ms": AS_OF_MS, "took_s": 12.3, "since_ms": SINCE_MS, "problem": null,
        "applications": 20, "containers": 800, "not_compared": 2, "first_runs": 5, "left_out": 0,
        "recorded": figures(204.0, 18.2), "capacity": figures(207.0, 18.0), "enforce": figures(151.0, 14.0),
        "replay_error": {"mean_completion": 0.0147, "makespan": -0.02},
        "containers_earlier": 312, "mean_earlier_s": 43.2,
        "queues": [{
            "queue": "root.etl", "applications": 20, "containers": 800, "containers_earlier": 312,
            "mean_earlier_s": 43.2, "recorded_completion_s": 204.0, "capacity_completion_s": 207.0,
            "enforce_completion_s": 151.0, "recorded_node_hours": 17.1, "capacity_node_hours": 17.0,
            "enforce_node_hours": 13.25,
        }],
        "by_application": applications,
        "more_applications": 8,
        "assumptions": ["Executors run as long as recorded."],
    })
}

fn response(is_recording: bool, is_working: bool, advice: &Value) -> String {
    let answer = json!({"is_recording": is_recording, "is_working": is_working, "advice": advice});
    format!("HTTP/1.0 200 OK\r\n\r\n{answer}")
}

fn asked(url: &str, arguments: &[&str]) -> Ended {
    elastane(&[&["advise", "--resource-manager", url][..], arguments].concat())
}

/// What the command does with one answer.
fn with_answer(answer: &str, arguments: &[&str]) -> Ended {
    let (url, thread) = server(answer);
    let ended = asked(&url, arguments);
    assert_eq!(thread.join().unwrap(), "GET /elastane/v1/advice HTTP/1.1");
    Ended { stderr: ended.stderr.replace(&url, "URL"), ..ended }
}

fn with_advice(advice: &Value, arguments: &[&str]) -> Ended {
    with_answer(&response(true, false, advice), arguments)
}

#[test]
fn the_gain_comes_first_and_the_replays_error_second() {
    let printed = with_advice(&advice(), &[]).printed();
    let expected = "\
In the 3 h 10 min since 2026-11-27T09:12:00.000Z, mode enforce would have ended applications after 151 s on average \
instead of 207 s (-27 %), started 312 of 800 containers earlier, by 43 s on average, and used 14.00 instead of 18.00 \
node-hours.
The replay matches the record: replayed as CapacityScheduler, the mean completion time is 1 % longer than recorded and \
the makespan is 2 % shorter than recorded.
Compared: 20 applications with 800 containers that ended; 5 of them had not run before, and the replay knows one run of \
them; 2 began before the record or had not ended, and are replayed without being compared.
As of 2026-11-27T12:22:00.000Z; the replay took 12 s.

                               makespan, s  mean completion, s  mean wait, s  node-hours
recorded                             11400                 204           9.5       18.20
replayed as CapacityScheduler        11400                 207           9.5       18.00
replayed in mode enforce             11400                 151           9.5       14.00

Queues, with their mean completion times and their parts of the node-hours
queue     applications  containers  earlier  by, s  recorded, s  CapacityScheduler, s  enforce, s  change  \
CapacityScheduler, node-hours  enforce, node-hours
root.etl            20         800      312     43          204                   207         151   \
-27 %                          17.00                13.25

Applications with their completion times, the greatest saving first, and their parts of the node-hours
application                     name      user  queue     containers  earlier  by, s";
    assert!(printed.starts_with(expected), "{printed}");
    assert_contains(
        &printed,
        &[
            "application_1795283369712_0010  etl <10>",
            "… and 10 more applications (--all)\n",
            "\nThe replay assumes\n- Executors run as long as recorded.\n",
        ],
    );
    assert!(!printed.contains("_0011"), "{printed}");
}

#[test]
fn an_older_resource_manager_does_not_tell_the_parts_of_the_node_hours() {
    let mut older = advice();
    for rows in ["queues", "by_application"] {
        for row in older[rows].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_node_hours"));
        }
    }
    let printed = with_advice(&older, &[]).printed();
    let row = printed.lines().find(|line| line.starts_with("root.etl ")).unwrap();
    assert!(row.ends_with("-27 %"), "empty cells: {row}");
    assert_contains(&printed, &["CapacityScheduler, node-hours"]);
}

#[test]
fn all_applications_are_listed_on_demand() {
    let printed = with_advice(&advice(), &["--all"]).printed();
    let expected =
        ["etl <12>", "… and 8 more applications that the ResourceManager does not list\n"];
    assert_contains(&printed, &expected);
}

#[test]
fn it_asks_again_until_the_replay_is_finished() {
    let mut older = advice();
    older["as_of_ms"] = json!(SINCE_MS);
    older["problem"] = json!("no application has ended yet");
    let first = response(true, true, &Value::Null);
    let (working, new) = (response(true, true, &older), response(true, false, &advice()));
    let (url, thread) = server_of(&[&first, &first, &new]);
    let ended = asked(&url, &["--json", "--user", "alice"]);
    assert_eq!(ended.stderr, "", "progress is for terminals");
    assert_eq!(ended.json(), advice());
    assert_eq!(thread.join().unwrap(), "GET /elastane/v1/advice?user.name=alice HTTP/1.1");
    // The next replay is under way already.
    let next = response(true, true, &advice());
    let (url, thread) = server_of(&[&working, &next]);
    assert_eq!(asked(&url, &["--json"]).json(), advice());
    thread.join().unwrap();
}

#[test]
fn without_a_record_the_mode_that_is_needed_is_named() {
    let ended = with_answer(&response(false, false, &Value::Null), &[]);
    let line = "elastane: the scheduler does not record: set yarn.scheduler.elastane.mode to advise and run \
                `yarn rmadmin -refreshQueues`; the advice is about applications that end afterwards\n";
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (Some(1), "", line));
    let mut nothing = advice();
    nothing["problem"] = json!("no application has ended yet");
    assert_eq!(with_answer(&response(false, false, &nothing), &[]).stderr, line);
    let printed = with_answer(&response(false, false, &advice()), &[]).printed();
    assert_contains(&printed, &["(-27 %)", "\nThe scheduler no longer records; "]);
}

#[test]
fn a_problem_is_told_with_exit_code_1() {
    let mut nothing = advice();
    nothing["problem"] = json!("no application has ended yet");
    for figures in ["capacity", "enforce", "replay_error"] {
        nothing[figures] = Value::Null;
    }
    let ended = with_advice(&nothing, &[]);
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""));
    assert_eq!(ended.stderr, "elastane: no application has ended yet\n");
    let ended = with_advice(&nothing, &["--json"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap(), nothing);
}

#[test]
fn the_page_has_bars_and_escaped_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("advice.html");
    let said = with_advice(&advice(), &["--html", common::text(&file)]).printed();
    assert!(said.ends_with("advice.html: written\n"), "{said}");
    let page = fs::read_to_string(file).unwrap();
    assert!(page.contains("etl &lt;1&gt;") && !page.contains("etl <1>"), "{page}");
    let bar = "<td>151<span class=\"share green\"><i style=\"width:73%\"></i></span></td>";
    let dark = "prefers-color-scheme:dark";
    assert_contains(&page, &["(-27 %)", bar, dark, "<li>Executors run as long as recorded.</li>"]);
    assert!(!page.contains("http"), "it loads nothing");
}

#[test]
fn wrong_answers_and_wrong_usage_are_told() {
    let refused = "HTTP/1.0 403 No\r\n\r\n{\"error\": \"advice is for administrators of YARN\"}";
    let ended = with_answer(refused, &[]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, "elastane: URL: advice is for administrators of YARN\n");
    let ended = with_advice(&json!({"as_of_ms": "soon"}), &[]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("elastane: the advice cannot be read: "), "{}", ended.stderr);
    assert_eq!(elastane(&["advise", "--json", "--html", "x.html"]).code, Some(2));
}
