#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::super::answer::Advice;
use super::*;

/// `enforce` against a replay as CapacityScheduler of 100 s and 10 node-hours.
fn advice(mean_completion_s: f64, node_hours: f64, containers_earlier: usize) -> Advice {
    let figures = |mean_completion_s: f64, node_hours: f64| json!({"makespan_s": 1, "mean_completion_s": mean_completion_s, "mean_wait_s": 1, "node_hours": node_hours});
    let advice = json!({
        "as_of_ms": 120_000, "took_s": 1, "since_ms": 0, "problem": null, "applications": 1, "containers": 3,
        "not_compared": 0, "first_runs": 0, "left_out": 0, "recorded": figures(1.0, 1.0),
        "capacity": figures(100.0, 10.0), "enforce": figures(mean_completion_s, node_hours),
        "replay_error": null, "containers_earlier": containers_earlier, "mean_earlier_s": 2.5, "queues": [],
        "by_application": [], "more_applications": 0, "assumptions": [],
    });
    serde_json::from_value(advice).unwrap()
}

fn told(advice: &Advice) -> String {
    let begin = "In the 2 min 0 s since 1970-01-01T00:00:00.000Z, mode enforce would have ";
    gain(&advice.comparison().unwrap()).strip_prefix(begin).unwrap().to_owned()
}

#[test]
fn what_is_no_gain_is_said() {
    assert_eq!(
        told(&advice(100.2, 10.0, 0)),
        "ended applications after the same time (100 s on average), started none of 3 containers earlier, and \
         used as many node-hours (10.00). It would not have been better than CapacityScheduler."
    );
    assert_eq!(
        told(&advice(104.0, 11.0, 1)),
        "ended applications later, after 104 s on average instead of 100 s (+4 %), started 1 of 3 containers \
         earlier, by 2.5 s on average, and used 11.00 instead of 10.00 node-hours. It would not have been better \
         than CapacityScheduler."
    );
    assert!(told(&advice(104.0, 8.0, 1)).ends_with("used 8.00 instead of 10.00 node-hours."));
}

#[test]
fn a_replay_that_misses_the_record_is_to_be_read_with_care() {
    let told =
        |mean_completion, makespan| match_of(Some(ReplayError { mean_completion, makespan }));
    assert_eq!(
        told(-0.16, 0.001),
        "Read these figures with care, for the replay does not match the record well: replayed as \
         CapacityScheduler, the mean completion time is 16 % shorter than recorded and the makespan is as recorded."
    );
    assert!(told(0.15, -0.15).starts_with("The replay matches the record: "));
    assert!(told(0.0, 0.151).starts_with("Read these figures with care"));
    assert_eq!(match_of(None), "How well the replay matches the record is not known.");
}

#[test]
fn seconds_and_changes_are_short() {
    assert_eq!([seconds(0.04), seconds(9.5), seconds(11_400.0)], ["0.0", "9.5", "11400"]);
    assert_eq!(
        [change(100.0, 73.0), change(100.0, 99.9), change(0.0, 1.0)],
        ["-27 %", "0 %", "0 %"]
    );
}
