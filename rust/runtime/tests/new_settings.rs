//! Runs of one application with other settings: what they do is learned, and the next ones are planned
//! by it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{GB, NODE, START_MS, commit, named_submission, open, open_with, register, report};
use elastane_core::cluster::{Ask, CommitRequest, NodeId, Request};
use elastane_predict::{ContainerKind, Submission};
use elastane_protocol::{VERSION, decode};
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository, PredictionRecord};

const KEY: &str = "app|SPARK|alice|root.default|count|count.Main|--rounds #";
const ROUNDS: [usize; 10] = [4, 16, 6, 12, 20, 5, 9, 18, 13, 7];

fn submission(number: usize, rounds: usize) -> Submission {
    let id = format!("application_1_{number:04}");
    Submission {
        commands: vec![format!("/bin/java count.Main --rounds {rounds} 1> out")],
        ..named_submission(&id, "count")
    }
}

fn start_ms(number: usize) -> i64 {
    START_MS + number as i64 * 600_000
}

/// What a run of so many rounds uses, in slots of 3 s: each round is one, alternately of 1 and 3 cores.
fn cores(rounds: usize) -> Vec<f32> {
    (0..rounds).map(|at| [1.0, 3.0][at % 2]).collect()
}

/// One executor of so many that are asked for uses this; then everything of it is handed on.
fn run(elastane: &Elastane, node: NodeId, submission: &Submission, executors: u32, cores: &[f32]) {
    let number: usize = submission.id[14..].parse().unwrap();
    let mut now_ms = start_ms(number);
    let application = elastane.application_added(submission, now_ms);
    elastane.pending(application, ask(executors), now_ms);
    let container = format!("container_{number}");
    assert!(commit(elastane, &container, application, node, now_ms));
    for cores in cores {
        now_ms += 3_000;
        let body = report(now_ms as u64, &[(&container, *cores, GB)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    }
    elastane.finished(&container, now_ms);
    elastane.application_removed(application, true, now_ms);
    elastane.bookable_changes(9, now_ms + 60_000);
}

fn ask(count: u32) -> Ask {
    Ask {
        kind: ContainerKind::DEFAULT_EXECUTOR,
        priority: 0,
        request: Request { memory_bytes: 3 * GB, vcores: 1 },
        count,
    }
}

/// Waits for what the learner's thread does.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn depository(folder: &Path) -> Depository {
    let file = folder.join("depository.sqlite");
    Depository::open_existing(&file, Access::Read).unwrap()
}

/// When the model of the executors was trained that knows so many runs.
fn wait_for_model(folder: &Path, runs: usize) {
    let depository = depository(folder);
    wait_for("a model", || {
        let mut models = depository.models(KEY).unwrap().into_iter();
        let model = models.find(|it| it.kind == ContainerKind::DEFAULT_EXECUTOR)?;
        let text = String::from_utf8(model.bytes).unwrap();
        let model: serde_json::Value = serde_json::from_str(&text).unwrap();
        (model["runs"].as_array().unwrap().len() >= runs).then_some(())
    });
}

/// What is predicted of the executors of this run once that is so.
fn predicted(
    folder: &Path,
    number: usize,
    is_so: impl Fn(&PredictionRecord) -> bool,
) -> PredictionRecord {
    let depository = depository(folder);
    let id = format!("application_1_{number:04}");
    wait_for("a prediction", || {
        let predictions = depository.predictions_of_run(&id).unwrap();
        predictions.into_iter().find(&is_so)
    })
}

fn was_asked(prediction: &PredictionRecord) -> bool {
    prediction.made.settings.contains_key("executors")
}

/// Runs of these rounds, and the model of them.
fn learn(folder: &Path) {
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    for (number, rounds) in ROUNDS.into_iter().enumerate() {
        run(&elastane, node, &submission(number, rounds), 2, &cores(rounds));
    }
    wait_for_model(folder, 9);
    elastane.close();
}

/// The cores that the limits of a container follow, in each of so many slots from now on.
fn planned_cores(elastane: &Elastane, container: &str, slots: usize, now_ms: i64) -> Vec<f32> {
    let body = report(now_ms as u64, &[(container, 1.0, GB)]);
    let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    let reply: elastane_protocol::Reply = decode(VERSION, &reply).unwrap();
    let steps = &reply.plans[0].steps;
    let in_force = |slot: usize| {
        let before = |it: &&elastane_protocol::Step| it.offset_ms as usize <= slot * 3_000;
        steps.iter().rfind(before).unwrap().limits.cpu_weight_cores.unwrap()
    };
    (0..slots).map(in_force).collect()
}

#[test]
fn a_run_with_new_settings_is_planned_near_what_it_uses() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path());
    // Reopened: what was learned is in the depository.
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    let rounds = 15;
    let now_ms = start_ms(50);
    let application = elastane.application_added(&submission(50, rounds), now_ms);
    elastane.pending(application, ask(2), now_ms);
    let made = predicted(folder.path(), 50, was_asked).made;
    assert_eq!(made.method, "settings", "{made:?}");
    assert_eq!(made.reason.as_deref(), Some("the settings are new"));
    assert_eq!(made.settings["--rounds"], 15.0);
    let length_ms = made.expected_length_ms.unwrap() as f64;
    assert!((length_ms / 45_000.0 - 1.0).abs() < 0.15, "{length_ms} ms");
    let model = made.model.unwrap();
    let features: Vec<_> = model.features.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(features, ["--rounds"], "the executors were always 2");
    assert!(model.held_out_error < 0.2 && model.confidence >= 0.6, "{model:?}");

    assert!(commit(&elastane, "container_50", application, node, now_ms));
    let planned: f32 = planned_cores(&elastane, "container_50", rounds, now_ms).iter().sum();
    let used: f32 = cores(rounds).iter().sum();
    assert!((planned / used - 1.0).abs() < 0.2, "{planned} of {used}");
    elastane.close();
}

#[test]
fn a_prediction_by_settings_is_scored_and_the_same_settings_are_recurring() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path());
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    for number in 50..53 {
        run(&elastane, node, &submission(number, 15), 2, &cores(15));
    }
    let first = predicted(folder.path(), 50, |it| it.outcome.is_some());
    assert_eq!(first.made.method, "settings");
    assert_eq!(first.outcome.unwrap().length_ms, 45_000);
    let third = predicted(folder.path(), 52, was_asked).made;
    let status: serde_json::Value = serde_json::from_str(&elastane.status(0)).unwrap();
    for (counter, least) in [("foreseen_by_settings", 2), ("foreseen_by_runs", 2)] {
        assert!(status[counter].as_u64().unwrap() >= least, "{status}");
    }
    assert_eq!(third.method, "recurring", "{third:?}");
    assert_eq!(third.runs, ["application_1_0051", "application_1_0050"]);
    elastane.close();
}

#[test]
fn below_the_floor_the_request_stands() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path());
    let sure = [("profile.least-confidence", "1")];
    let elastane = open_with(folder.path(), "enforce", &sure);
    let node = register(&elastane);
    let now_ms = start_ms(50);
    let application = elastane.application_added(&submission(50, 15), now_ms);
    elastane.pending(application, ask(2), now_ms);
    let prediction = predicted(folder.path(), 50, was_asked);
    let reason = prediction.made.not_predicted.unwrap();
    assert!(reason.starts_with("the confidence of the model is 0."), "{reason}");
    assert_eq!(prediction.bound, None);
    assert!(commit(&elastane, "container_50", application, node, now_ms));
    // A part of the node by its virtual cores, the same for life.
    let planned = planned_cores(&elastane, "container_50", 15, now_ms);
    assert_eq!(planned, [4.0; 15]);
    elastane.close();
}

#[test]
fn settings_unlike_any_before_are_planned_by_the_request() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path());
    let elastane = open(folder.path(), "enforce");
    register(&elastane);
    let now_ms = start_ms(50);
    elastane.application_added(&submission(50, 900), now_ms);
    let prediction = predicted(folder.path(), 50, |_| true);
    let reason = prediction.made.not_predicted.unwrap();
    assert!(reason.starts_with("--rounds is 900, from 3.2 to 25"), "{reason}");
    elastane.close();
}

#[test]
fn how_many_executors_there_are_is_known_with_the_first_ask() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    // Rounds are shared out: with more executors each has fewer.
    let executors = [1, 3, 2, 8, 3, 6, 5, 2, 7, 1];
    for (number, executors) in executors.into_iter().enumerate() {
        let slots = 40 / executors as usize;
        run(&elastane, node, &submission(number, 40), executors, &cores(slots));
    }
    wait_for_model(folder.path(), 9);
    let now_ms = start_ms(50);
    let application = elastane.application_added(&submission(50, 40), now_ms);
    let before = predicted(folder.path(), 50, |_| true).made;
    assert_eq!(before.method, "recurring", "so many rounds ran before");
    elastane.pending(application, ask(4), now_ms);
    let after = predicted(folder.path(), 50, was_asked).made;
    assert_eq!(after.method, "settings", "never on so many executors");
    let length_ms = after.expected_length_ms.unwrap() as f64;
    assert!((length_ms / 30_000.0 - 1.0).abs() < 0.2, "{length_ms} ms");
    elastane.close();
}

#[test]
fn an_application_master_is_foreseen_before_it_asks_for_executors() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    for (number, rounds) in ROUNDS.into_iter().enumerate() {
        let submission = submission(number, rounds);
        let mut now_ms = start_ms(number);
        let application = elastane.application_added(&submission, now_ms);
        // The executors are others each time, and do nothing for how long the master lives.
        elastane.pending(application, ask(1 + number as u32 * 7 % 9), now_ms);
        let (master, executor) = (format!("master_{number}"), format!("executor_{number}"));
        let kinds = [
            (&master, ContainerKind::ApplicationMaster),
            (&executor, ContainerKind::DEFAULT_EXECUTOR),
        ];
        for (container, kind) in kinds {
            let request = ask(1).request;
            let committed = CommitRequest {
                container,
                application,
                node,
                kind,
                request,
                may_refuse: false,
                start_ms: now_ms,
            };
            assert!(elastane.commit(committed, now_ms));
        }
        for cores in cores(rounds) {
            now_ms += 3_000;
            let used = [(&*master, 0.5, GB), (&*executor, cores, GB)];
            let body = report(now_ms as u64, &used);
            elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        }
        elastane.finished(&master, now_ms);
        elastane.finished(&executor, now_ms);
        elastane.application_removed(application, true, now_ms);
        elastane.bookable_changes(9, now_ms + 60_000);
    }
    wait_for_model(folder.path(), 9);
    elastane.application_added(&submission(50, 15), start_ms(50));
    let of = |kind| predicted(folder.path(), 50, |it| it.kind == kind).made;
    let executor = of(ContainerKind::DEFAULT_EXECUTOR);
    assert_eq!(executor.not_predicted.as_deref(), Some("the setting executors is not known"));
    let master = of(ContainerKind::ApplicationMaster);
    assert_eq!(master.method, "settings");
    let length_ms = master.expected_length_ms.unwrap() as f64;
    assert!((length_ms / 45_000.0 - 1.0).abs() < 0.2, "{length_ms} ms");
    elastane.close();
}

#[test]
fn settings_are_kept_with_the_submission() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    register(&elastane);
    let mut submission = submission(1, 7);
    submission.tags = vec!["elastane.setting.input_bytes=2e9".into()];
    let application = elastane.application_added(&submission, START_MS);
    elastane.pending(application, ask(5), START_MS);
    elastane.pending(application, ask(3), START_MS + 1);
    elastane.close();
    let kept = depository(folder.path()).submission(&submission.id).unwrap();
    let kept: Vec<(String, f64)> = kept.unwrap().settings.into_iter().collect();
    let expected = [
        ("--rounds", 7.0),
        ("executor_cores", 1.0),
        ("executor_memory_bytes", 3.0 * GB as f64),
        ("executors", 5.0),
        ("input_bytes", 2e9),
    ];
    assert_eq!(kept, expected.map(|(name, it)| (name.to_owned(), it)));
}
