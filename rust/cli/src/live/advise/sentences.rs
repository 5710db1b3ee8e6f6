//! Advice in words.

use super::answer::{Comparison, ReplayError};
use crate::units::{count, duration, hours, moment};

/// A replay that misses the recorded times by more is not to be relied on.
const CLOSE: f64 = 0.15;

/// `9.5`, `151`: seconds without a unit.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds.abs() < 10.0 { format!("{seconds:.1}") } else { format!("{seconds:.0}") }
}

/// How much longer `to` is than `from`, in whole percent.
fn change_percent(from: f64, to: f64) -> f64 {
    if from > 0.0 { (100.0 * (to / from - 1.0)).round() } else { 0.0 }
}

/// `-27 %`.
pub(super) fn change(from: f64, to: f64) -> String {
    match change_percent(from, to) {
        0.0 => "0 %".to_owned(),
        percent => format!("{percent:+} %"),
    }
}

/// The sentences above the tables, in their order.
pub(super) fn all(comparison: &Comparison, is_recording: bool) -> Vec<String> {
    let mut sentences = vec![
        gain(comparison),
        match_of(comparison.advice.replay_error),
        compared(comparison),
        as_of(comparison),
    ];
    if !is_recording {
        let is_older = "The scheduler no longer records; yarn.scheduler.elastane.mode = advise starts a new record.";
        sentences.push(is_older.to_owned());
    }
    sentences
}

fn gain(comparison: &Comparison) -> String {
    let Comparison { advice, capacity, enforce, .. } = comparison;
    let (before_s, after_s) = (capacity.mean_completion_s, enforce.mean_completion_s);
    let (before, after) = (seconds(before_s), seconds(after_s));
    let by = change(before_s, after_s);
    let change_of_completion = change_percent(before_s, after_s);
    let completion = match change_of_completion {
        0.0 => format!("ended applications after the same time ({before} s on average)"),
        less if less < 0.0 => {
            format!("ended applications after {after} s on average instead of {before} s ({by})")
        }
        _ => {
            format!(
                "ended applications later, after {after} s on average instead of {before} s ({by})"
            )
        }
    };
    let containers = match advice.containers_earlier {
        0 => format!("started none of {} earlier", count(advice.containers, "container")),
        earlier => format!(
            "started {earlier} of {} earlier, by {} s on average",
            count(advice.containers, "container"),
            seconds(advice.mean_earlier_s),
        ),
    };
    let (before, after) = (hours(capacity.node_hours), hours(enforce.node_hours));
    let nodes = match before == after {
        true => format!("used as many node-hours ({before})"),
        false => format!("used {after} instead of {before} node-hours"),
    };
    let is_better =
        change_of_completion < 0.0 || change_percent(capacity.node_hours, enforce.node_hours) < 0.0;
    let verdict = match is_better {
        true => "",
        false => " It would not have been better than CapacityScheduler.",
    };
    format!(
        "In the {} since {}, mode enforce would have {completion}, {containers}, and {nodes}.{verdict}",
        duration(advice.as_of_ms.saturating_sub(advice.since_ms)),
        moment(advice.since_ms),
    )
}

/// How well the replay matches what happened.
fn match_of(error: Option<ReplayError>) -> String {
    let Some(ReplayError { mean_completion, makespan }) = error else {
        return "How well the replay matches the record is not known.".to_owned();
    };
    let verdict = match mean_completion.abs().max(makespan.abs()) > CLOSE {
        true => "Read these figures with care, for the replay does not match the record well",
        false => "The replay matches the record",
    };
    format!(
        "{verdict}: replayed as CapacityScheduler, the mean completion time is {} and the makespan is {}.",
        than_recorded(mean_completion),
        than_recorded(makespan),
    )
}

fn than_recorded(error: f64) -> String {
    let percent = (100.0 * error).round();
    match percent {
        0.0 => "as recorded".to_owned(),
        more if more > 0.0 => format!("{more} % longer than recorded"),
        less => format!("{} % shorter than recorded", -less),
    }
}

/// What the figures are made of.
fn compared(comparison: &Comparison) -> String {
    let advice = comparison.advice;
    let mut parts = vec![format!(
        "Compared: {} with {} that ended",
        count(advice.applications, "application"),
        count(advice.containers, "container"),
    )];
    let others = [
        (advice.first_runs, "of them had not run before, and the replay knows one run of them"),
        (
            advice.not_compared,
            "began before the record or had not ended, and are replayed without being compared",
        ),
        (
            advice.left_out,
            "are left out: none of their containers was measured, or one is too large for any node",
        ),
    ];
    let others = others.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(others.map(|(number, why)| format!("{number} {why}")));
    parts.join("; ") + "."
}

fn as_of(comparison: &Comparison) -> String {
    let advice = comparison.advice;
    format!("As of {}; the replay took {} s.", moment(advice.as_of_ms), seconds(advice.took_s))
}

#[cfg(test)]
mod tests;
