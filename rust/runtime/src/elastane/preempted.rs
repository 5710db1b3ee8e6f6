//! What CapacityScheduler tells of its own preemptions.

use serde::Deserialize;

use crate::elastane::Elastane;
use crate::journal::{CapacityPreemption, JournalEvent, Preemption, Record};

/// A preemption, and the queue of its application.
#[derive(Debug, Deserialize)]
pub struct PreemptionEvent {
    /// The path of the leaf queue; none if it is not known.
    queue: Option<String>,
    #[serde(flatten)]
    preemption: CapacityPreemption,
}

/// CapacityScheduler preempts a container, or no longer does. Only recorded, without the service's lock.
pub fn record_preemption(elastane: &Elastane, told: PreemptionEvent, now_ms: i64) {
    let PreemptionEvent { queue, preemption } = told;
    let event = JournalEvent::Preemption(Box::new(Preemption::ByCapacityScheduler(preemption)));
    elastane.decisions.record(Record { time_ms: now_ms, queue, event });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;
    use crate::settings::RuntimeSettings;

    #[test]
    fn capacity_schedulers_preemption_is_a_decision_and_takes_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let files = [("depository.file", "runs.sqlite"), ("journal.file", "decisions.jsonl")];
        let files = files.map(|(key, name)| (format!("yarn.scheduler.elastane.{key}"), path(name)));
        let settings = RuntimeSettings::from_configuration(&BTreeMap::from(files), true).unwrap();
        let elastane = Elastane::open(settings).unwrap();
        let told = json!({"cause": "capacity-scheduler", "node": "node-1:8041",
            "container": "container_1_0001_01_000002", "application": "application_1_0001",
            "queue": "root.a", "outcome": "killable", "reason": "the monitor"});

        let held = elastane.service.lock();
        record_preemption(&elastane, serde_json::from_value(told.clone()).unwrap(), 7);
        drop(held);

        let wanted = json!({"about": "decisions", "kind": "preemption", "limit": 9});
        let found = elastane.answer(&wanted.to_string(), 7).unwrap();
        let found: Value = serde_json::from_str(&found).unwrap();
        let decision = found["decisions"][0].as_object().unwrap();
        assert_eq!((&decision["kind"], &decision["time_ms"]), (&json!("preemption"), &json!(7)));
        for (key, value) in told.as_object().unwrap() {
            assert_eq!(&decision[key], value, "{key}");
        }
        elastane.close();
        let line = std::fs::read_to_string(folder.path().join("decisions.jsonl")).unwrap();
        let read: Record = serde_json::from_str(&line).unwrap();
        assert_eq!(read.queue.as_deref(), Some("root.a"));
        let JournalEvent::Preemption(read) = read.event else { panic!("{line}") };
        assert!(matches!(*read, Preemption::ByCapacityScheduler(_)), "{line}");
    }
}
