//! Submissions, predictions and models to save.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use elastane_core::{Demand, Resources};
use elastane_runs::{ContainerKind, Feature, SignaturePart};
use elastane_store::{
    Depository, LeftOutRun, ModelRecord, ModelUsed, PredictionMade, PredictionRecord,
    SubmissionRecord,
};
use tempfile::TempDir;

pub fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    (folder, path)
}

pub fn open(path: &Path) -> Depository {
    Depository::open(path).unwrap().depository
}

pub fn prediction(id: &str, made_ms: i64) -> PredictionRecord {
    let slots = [Resources::from_array([0.5, 1e6, 0.0, 3.0]); 4];
    PredictionRecord {
        application_id: id.into(),
        application_key: "sales".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        made_ms,
        made: PredictionMade {
            method: "recurring".into(),
            confidence: Some(0.8),
            runs: vec!["application_1_2".into(), "application_1_1".into()],
            left_out: vec![LeftOutRun {
                application_id: "application_1_0".into(),
                reason: "it failed".into(),
            }],
            expected_length_ms: Some(12_000),
            reason: Some("earlier runs had the same settings".into()),
            settings: BTreeMap::from([("executors".to_owned(), 4.0)]),
            model: Some(model_used()),
            ..PredictionMade::default()
        },
        bound: Some(Demand::series(3_000, &slots).unwrap()),
        outcome: None,
    }
}

fn model_used() -> ModelUsed {
    ModelUsed {
        features: vec![Feature { name: "executors".into(), least: 1.6, most: 15.0 }],
        regressions: BTreeMap::from([("cpu".to_owned(), "rbf".to_owned())]),
        runs: 30,
        held_out_error: 0.07,
        error_without_settings: 0.5,
        confidence: 0.8,
    }
}

pub fn model(name: &str, trained_ms: i64) -> ModelRecord {
    ModelRecord {
        application_key: "sales".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        name: name.into(),
        version: 1,
        trained_ms,
        held_out_error: 0.12,
        bytes: vec![7; 5_000],
    }
}

pub fn submission(id: &str) -> SubmissionRecord {
    SubmissionRecord {
        application_id: id.into(),
        application_key: "sales".into(),
        application_name: "Sales 1".into(),
        submitted_ms: 5,
        signature: vec![SignaturePart {
            part: "name".into(),
            submitted: Some("Sales 1".into()),
            in_key: "Sales #".into(),
        }],
        settings: BTreeMap::from([("executors".to_owned(), 4.0)]),
    }
}
