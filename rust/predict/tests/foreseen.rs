//! Which way the next run of an application is foreseen.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/rounds.rs"]
mod rounds;

use std::time::{Duration, Instant};

use elastane_predict::{
    ContainerKind, NotPlanned, PastRun, RecurringSettings, Settings, Way, amount,
};
use rounds::{GivenRun, KIND, VARIED, foresee, foreseen, given, model, run, runs_of};

/// As long whatever the number is: it only counts up.
fn counted(count: usize) -> Vec<GivenRun> {
    (0..count).map(|number| run(number, 10.0 + number as f64, 40.0)).collect()
}

#[test]
fn runs_with_the_same_settings_come_before_a_model() {
    let mut runs = runs_of(&VARIED);
    runs.extend((20..23).map(|number| run(number, 35.0, 70.0)));
    runs.push(run(30, 12.0, 24.0));
    let model = model(&runs);
    let foreseen = foreseen(&runs, Some(&model), &given(35.0));
    assert_eq!(foreseen.way, Way::Same);
    let prediction = foreseen.prediction.unwrap();
    assert_eq!(prediction.runs, ["run-22", "run-21", "run-20"]);
}

#[test]
fn new_settings_are_foreseen_by_the_model_near_what_they_use() {
    let runs = runs_of(&VARIED);
    let model = model(&runs);
    assert!(model.settings_matter());
    let foreseen = foreseen(&runs, Some(&model), &given(25.0));
    assert_eq!(foreseen.way, Way::Model);
    let said = foreseen.prediction.unwrap().total();
    let was = amount(&run(3, 25.0, 50.0).run.used(KIND).unwrap().unwrap());
    for (said, was) in [
        (said.cpu_cores, was.cpu_cores),
        (said.memory_bytes, was.memory_bytes),
        (said.disk_bytes_per_s, was.disk_bytes_per_s),
    ] {
        assert!((said / was - 1.0).abs() < 0.15, "{said} of {was}");
    }
}

#[test]
fn below_the_floor_and_beyond_the_runs_the_request_stands() {
    let runs = runs_of(&VARIED);
    let model = model(&runs);
    let beyond = foreseen(&runs, Some(&model), &given(500.0));
    assert!(
        matches!(&beyond.prediction, Err(NotPlanned::Settings(why)) if why.to_string().starts_with("--rounds is 500")),
        "{:?}",
        beyond.prediction
    );
    let all_too_unsure =
        RecurringSettings { least_confidence: 0.999, ..RecurringSettings::default() };
    let unsure = foresee(&runs, &[], Some(&model), &given(25.0), &all_too_unsure);
    assert!(matches!(unsure.prediction, Err(NotPlanned::Unsure(..))), "{:?}", unsure.prediction);
}

#[test]
fn what_a_setting_does_that_never_differed_is_not_known() {
    let mut runs = runs_of(&VARIED);
    let executors = |runs: &mut GivenRun, executors: f64| {
        let name = "executors".to_owned();
        runs.settings.0.insert(name, executors);
    };
    runs.iter_mut().for_each(|run| executors(run, 2.0));
    let model = model(&runs);
    let mut next = run(99, 25.0, 50.0);
    executors(&mut next, 2.0);
    assert!(foreseen(&runs, Some(&model), &next.settings).prediction.is_ok());
    executors(&mut next, 8.0);
    let more = foreseen(&runs, Some(&model), &next.settings);
    let reason = more.prediction.unwrap_err().to_string();
    assert_eq!(reason, "executors is 8, every run had 2");

    // Nor does a model that finds settings to say nothing know more than it has seen.
    let runs = counted(12);
    let far = foreseen(&runs, Some(&self::model(&runs)), &given(900.0));
    assert_eq!(far.way, Way::Model);
    assert!(far.prediction.is_err());
}

#[test]
fn without_a_model_new_settings_that_change_runs_are_not_foreseen() {
    let runs = runs_of(&VARIED[..4]);
    let foreseen = foreseen(&runs, None, &given(25.0));
    assert_eq!(foreseen.way, Way::Request);
    assert_eq!(foreseen.prediction.unwrap_err(), NotPlanned::NoModel);
}

#[test]
fn a_number_that_only_counts_up_keeps_nobody_from_a_prediction() {
    let runs = counted(4);
    let next = foreseen(&runs, None, &given(14.0));
    assert_eq!(next.way, Way::Alike);
    assert_eq!(next.prediction.unwrap().runs.len(), 3);
    let far = foreseen(&runs, None, &given(200.0));
    assert_eq!(far.way, Way::Request, "nobody knows what 200 does");

    let runs = counted(12);
    let model = model(&runs);
    assert!(!model.settings_matter(), "{}", model.error);
    let next = foreseen(&runs, Some(&model), &given(22.0));
    assert_eq!(next.way, Way::Indifferent);
    assert_eq!(next.prediction.unwrap().runs.len(), 3);
}

#[test]
fn the_first_runs_with_another_number_are_not_taken_for_those_before() {
    // Ten is all that ever ran: what twenty does is not known.
    let foreseen = foreseen(&runs_of(&[10.0; 5]), None, &given(20.0));
    assert_eq!(foreseen.way, Way::Request);
}

#[test]
fn runs_of_which_no_settings_are_known_are_taken_as_before() {
    let mut runs = runs_of(&[20.0, 20.0, 20.0]);
    runs.iter_mut().for_each(|it| it.settings = Settings::default());
    assert_eq!(foreseen(&runs, None, &given(99.0)).way, Way::Same);
}

#[test]
fn nothing_is_said_of_containers_that_no_run_had() {
    let runs: Vec<_> = runs_of(&[10.0; 3]).into_iter().map(|it| it.run).collect();
    assert_eq!(PastRun::all(&runs, ContainerKind::ApplicationMaster), []);
}

#[test]
fn thirty_runs_are_learned_within_seconds_and_a_prediction_takes_no_time() {
    // The bounds are 1 s and 1 ms; this is not optimized, and others use the machine.
    let rounds: Vec<f64> = (0..30).map(|at| 10.0 + (at * 7 % 31) as f64).collect();
    let runs = runs_of(&rounds);
    let began = Instant::now();
    let model = model(&runs);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let fastest = (0..20).map(|at| {
        let began = Instant::now();
        model.predict(&given(15.5 + f64::from(at))).unwrap();
        began.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_millis(5), "{fastest:?}");
}
