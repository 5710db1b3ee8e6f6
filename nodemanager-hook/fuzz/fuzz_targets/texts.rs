//! Texts that Java hands to the ResourceManager's core, and the journal's lines as `elastane decisions`
//! reads them: each is read or refused, without a panic. The first byte chooses what the text is.
#![no_main]

use std::collections::BTreeMap;

use elastane_core::cluster::{QueueShare, Request, RunningContainer};
use elastane_predict::{Submission, signature};
use elastane_runtime::{
    PreemptionEvent, Record, RuntimeSettings, Service, ServiceSettings, application_of,
};
use libfuzzer_sys::fuzz_target;

/// A key is a primary key of the depository.
const MOST_KEY_BYTES: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match choice % 6 {
        0 => configuration(text),
        1 => queues(text),
        2 => submission(text),
        3 => {
            let _ = serde_json::from_str::<Vec<RunningContainer>>(text);
        }
        4 => {
            let _ = serde_json::from_str::<PreemptionEvent>(text);
            let _ = application_of(text);
        }
        _ => journal(text),
    }
});

/// Settings that are accepted open a service.
fn configuration(json: &str) {
    let Ok(keys) = serde_json::from_str::<BTreeMap<String, String>>(json) else { return };
    if let Ok(settings) = RuntimeSettings::from_configuration(&keys, true) {
        let ratio = settings.service.cluster.max_ratio;
        assert!((1.0..=10.0).contains(&ratio), "{ratio}");
        assert!(settings.service.report_interval_ms > 0);
        assert!(Service::new(settings.service, Vec::new()).is_ok());
    }
}

/// Queues that are accepted let a node be offered.
fn queues(json: &str) {
    let Ok(shares) = serde_json::from_str::<Vec<QueueShare>>(json) else { return };
    let mut service =
        Service::new(ServiceSettings::default(), Vec::new()).expect("the default policy");
    let registered = Request { memory_bytes: 8 << 30, vcores: 8 };
    let node = service.node_added("node-1:1", registered);
    service.configure_queues(shares);
    let _ = service.round(node, registered, 1_000);
    let _ = service.bookable_changes(1, 1_000);
}

fn submission(json: &str) {
    let Ok(submission) = serde_json::from_str::<Submission>(json) else { return };
    let key = signature(&submission);
    assert!(!key.is_empty() && key.len() <= MOST_KEY_BYTES, "{} bytes", key.len());
    assert_eq!(key, signature(&submission));
    let _ = elastane_runtime::submission_record(&submission, 1_000_000);
}

/// A record that is read can be written, and is read again.
fn journal(line: &str) {
    let Ok(record) = serde_json::from_str::<Record>(line) else { return };
    let again = serde_json::to_string(&record).expect("a record is JSON");
    assert!(serde_json::from_str::<Record>(&again).is_ok(), "{again}");
}
