//! A question that a REST request became, to a core with files, a node, a running container and profiles: it is
//! answered by JSON or refused, without a panic.
#![no_main]

#[path = "../../../rust/runtime/tests/common/mod.rs"]
mod common;
#[path = "../run_folder.rs"]
mod run_folder;

use std::sync::OnceLock;

use common::{GB, START_MS, commit, learn_named, named_submission, open, register, reply};
use elastane_runtime::Elastane;
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;
use serde_json::Value;

const NOW_MS: i64 = START_MS + 1_212_000;

fuzz_target!(|question: &str| {
    if let Ok(answer) = core().answer(question, NOW_MS) {
        assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{answer}");
    }
});

fn core() -> &'static Elastane {
    static CORE: OnceLock<Elastane> = OnceLock::new();
    CORE.get_or_init(|| {
        let folder = run_folder(&std::env::temp_dir());
        learn_named(&folder, &[("known", &[2.0; 20]), ("other", &[1.0; 20])]);
        let elastane = open(&folder, "enforce");
        let node = register(&elastane);
        reply(&elastane, 0, NOW_MS - 12_000, &[]);
        let known = named_submission("application_1_0080", "known");
        let known = elastane.application_added(&known, NOW_MS - 12_000);
        assert!(commit(&elastane, "container_1", known, node, NOW_MS - 12_000));
        reply(&elastane, 1, NOW_MS - 2_000, &[("container_1", GB)]);
        elastane
    })
}
