//! Predictions from memory and from the runs, and damage that pruning finds.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use elastane_core::Resources;
use elastane_core::cluster::{ApplicationId, Predicted};
use elastane_predict::ProfileSettings;
use elastane_runs::{ContainerKind, Outcome, Run, RunSeries, RunSettings, SubmissionRecord};
use elastane_store::{Depository, Retention};

use super::{DepositoryThread, Found, OnPrediction, Work};
use crate::decisions::Decisions;
use crate::effects::Submitted;

const KEY: &str = "app|SPARK|alice|root.default|count|count.Main|";
const SETTINGS: ProfileSettings =
    ProfileSettings { runs: 3, margin: 0.1, least_confidence: 0.6, others: true };
const KINDS: [ContainerKind; 2] =
    [ContainerKind::ApplicationMaster, ContainerKind::DEFAULT_EXECUTOR];

/// Amounts that no f32 has, of one length, a little apart.
fn run(number: u16) -> Run {
    let slot = |at: usize| {
        let third = (1.0 + (at % 5) as f64 + f64::from(number) / 50.0) / 3.0;
        Resources::from_array([third, 1e9 * third, 1e6 * third, 1e7 * third])
    };
    let series = |kind| RunSeries {
        stage_ends_ms: Vec::new(),
        kind,
        containers: 1,
        slots: (0..40).map(slot).collect(),
    };
    Run {
        application_key: KEY.to_owned(),
        application_id: format!("application_1_{number:04}"),
        application_name: "count".to_owned(),
        started_ms: 0,
        ended_ms: i64::from(number),
        outcome: Outcome::Succeeded,
        series: KINDS.map(series).into(),
    }
}

fn submitted(application: ApplicationId) -> Submitted {
    let record = SubmissionRecord {
        application_id: format!("application_2_{:04}", application.0),
        application_key: KEY.to_owned(),
        application_name: "count".to_owned(),
        submitted_ms: 1_000,
        signature: Vec::new(),
        settings: [].into(),
    };
    Submitted { application, record, is_new: true }
}

fn open(depository: Depository, on_prediction: OnPrediction) -> DepositoryThread {
    let retention = Retention { keep_ms: 1, most_bytes: u64::MAX, profile_runs: 3 };
    let decisions = Arc::new(Decisions::open(None, &Arc::default()).unwrap());
    DepositoryThread::open(
        Found::read(depository).unwrap(),
        SETTINGS,
        retention,
        decisions,
        Arc::default(),
        on_prediction,
    )
    .unwrap()
}

#[test]
fn what_is_known_at_once_is_what_is_foreseen_then() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&file).unwrap().depository;
    for number in 1..4 {
        depository.save(&run(number)).unwrap();
    }
    let (sender, foreseen) = channel::<(ContainerKind, Option<Predicted>)>();
    let told = move |_, kind, predicted| sender.send((kind, predicted)).unwrap();
    let mut thread = open(depository, Box::new(told));
    let demands = thread.demands(KEY, &RunSettings::default(), 0);
    thread.send(Work::Submitted(Box::new(submitted(ApplicationId(1)))));
    for _ in KINDS {
        let (kind, predicted) = foreseen.recv_timeout(Duration::from_secs(60)).unwrap();
        let predicted = predicted.unwrap();
        // Else it would change what an application that waits is screened by, and its series would
        // be one of its own.
        assert_eq!(demands.of(kind), Some(&predicted), "{kind}");
        let slots = predicted.demand.slots();
        let is_kept_as_f32 = |amount: f64| amount == f64::from(amount as f32);
        assert!(slots.iter().all(|it| it.to_array().into_iter().all(is_kept_as_f32)));
    }
    thread.close(Vec::new, Vec::new, 0);
}

#[test]
fn profiles_are_made_anew_by_other_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&file).unwrap().depository;
    for number in 1..4 {
        depository.save(&run(number)).unwrap();
    }
    let mut thread = open(depository, Box::new(|_, _, _| ()));
    let retention = Retention { keep_ms: 1, most_bytes: u64::MAX, profile_runs: 3 };
    let margin = |thread: &DepositoryThread| {
        let demands = thread.demands(KEY, &RunSettings::default(), 0);
        demands.of(ContainerKind::DEFAULT_EXECUTOR).map(|it| it.margin)
    };
    let wait_for = |thread: &DepositoryThread, wanted: &dyn Fn(Option<f64>) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !wanted(margin(thread)) {
            assert!(Instant::now() < deadline, "{:?}", margin(thread));
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let first = margin(&thread).unwrap();
    let larger = ProfileSettings { margin: 0.4, ..SETTINGS };
    thread.send(Work::Settings(larger, retention));
    wait_for(&thread, &|now| now.is_some_and(|now| (now - 4.0 * first).abs() < 1e-9));
    let surer = ProfileSettings { least_confidence: 1.0, ..SETTINGS };
    thread.send(Work::Settings(surer, retention));
    wait_for(&thread, &|now| now.is_none());
    thread.close(Vec::new, Vec::new, 0);
}

#[test]
fn damage_that_is_found_while_old_runs_go_moves_the_file_aside() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&file).unwrap().depository;
    depository.save(&run(1)).unwrap();
    drop(depository);
    let depository = Depository::open(&file).unwrap().depository;
    let mut thread = open(depository, Box::new(|_, _, _| ()));
    for part in [file.clone(), file.with_extension("sqlite-wal")] {
        let length = fs::metadata(&part).unwrap().len() as usize;
        let damaged = fs::OpenOptions::new().write(true).open(&part);
        std::io::Write::write_all(&mut damaged.unwrap(), &vec![0xAB; length]).unwrap();
    }
    thread.prune_if_due(10_000);
    let aside = folder.path().join("depository.sqlite.damaged-1");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !(aside.exists() && file.exists()) {
        assert!(Instant::now() < deadline, "the file is not moved");
        std::thread::sleep(Duration::from_millis(5));
    }
    thread.close(Vec::new, Vec::new, 0);
    assert_eq!(Depository::open(&file).unwrap().moved_aside, None);
}

#[test]
fn a_panic_costs_one_step_of_learning_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&file).unwrap().depository;
    for number in 1..4 {
        depository.save(&run(number)).unwrap();
    }
    let (sender, foreseen) = channel();
    let told = move |application, kind, _: Option<Predicted>| {
        assert_ne!(application, ApplicationId(1), "a panic that the test asked for");
        sender.send((application, kind)).unwrap();
    };
    let mut thread = open(depository, Box::new(told));
    for number in 1..=2 {
        thread.send(Work::Submitted(Box::new(submitted(ApplicationId(number)))));
    }
    let (application, _) = foreseen.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(application, ApplicationId(2));
    let counted = serde_json::to_value(&*thread.shared.counters).unwrap();
    assert_eq!(counted["learning_failures"], 1);
    thread.close(Vec::new, Vec::new, 0);
    assert!(
        Depository::open(&file)
            .unwrap()
            .depository
            .submission("application_2_0001")
            .unwrap()
            .is_some()
    );
}
