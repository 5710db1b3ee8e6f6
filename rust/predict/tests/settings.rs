//! Runs with other settings, by what may be asked of a model.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/input_and_executors.rs"]
mod input_and_executors;

use elastane_core::{Resources, SLOT_MS};
use elastane_predict::{
    Exclusion, Measure, NotForeseen, NotTrained, RecurringSettings, Settings, SettingsModel,
    SettingsRun, Tracker, train,
};
use input_and_executors::{model, run, runs, settings};

#[test]
fn a_run_with_settings_that_never_ran_is_foreseen() {
    let next = run(99, 15.0, 4.0);
    let prediction = model().predict(&next.settings).unwrap();
    let length_ms = next.used.duration_ms().unwrap() as f64;
    assert!((prediction.length_ms() as f64 / length_ms - 1.0).abs() < 0.1);
    let used = elastane_predict::amount(&next.used);
    let ratios = prediction.total().zip(used, |said, was| said / was.max(1.0));
    for ratio in [ratios.cpu_cores, ratios.memory_bytes, ratios.disk_bytes_per_s] {
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }
    assert_eq!(prediction.total().network_bytes_per_s, 0.0);
    assert!(prediction.confidence > 0.6, "{}", prediction.confidence);
    assert_eq!(prediction.runs[0], "run-19");
}

#[test]
fn its_prediction_can_be_tracked() {
    let next = run(99, 15.0, 4.0);
    let mut tracker = Tracker::of_demand(&model().predict(&next.settings).unwrap().demand);
    let half = next.used.slots().len() / 2;
    for slot in &next.used.slots()[..half] {
        tracker.observe(*slot, SLOT_MS);
    }
    assert!((tracker.progress() - 0.5).abs() < 0.1, "{}", tracker.progress());
}

#[test]
fn a_model_is_the_same_after_it_was_kept() {
    let model = model();
    let kept: SettingsModel =
        serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
    let predicted = |model: &SettingsModel| model.predict(&settings(15.0, 4.0)).unwrap().total();
    let (before, after) = (predicted(&model), predicted(&kept));
    assert!((before.cpu_cores / after.cpu_cores - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_unlike_the_runs_is_not_foreseen() {
    let model = model();
    let far = model.predict(&settings(1_000.0, 4.0)).unwrap_err();
    assert!(matches!(&far, NotForeseen::Beyond(setting, ..) if setting == "input_bytes"), "{far}");
    let missing = model.predict(&Settings::default()).unwrap_err();
    assert!(matches!(missing, NotForeseen::Missing(_)), "{missing}");
}

#[test]
fn settings_that_only_some_runs_have_or_that_never_differ_are_no_features() {
    let mut runs = runs(20);
    runs[3].settings.0.insert("once".into(), 7.0);
    runs.iter_mut().for_each(|run| {
        run.settings.0.insert("always".into(), 7.0);
    });
    let model = train(&runs).unwrap();
    assert!(model.predict(&settings(15.0, 4.0)).is_ok());
}

#[test]
fn there_is_no_model_of_few_runs_and_of_equal_ones_and_no_confidence_in_noise() {
    assert_eq!(train(&runs(5)).unwrap_err(), NotTrained::TooFewRuns(5));
    let alike: Vec<SettingsRun> = (0..9).map(|number| run(number, 10.0, 4.0)).collect();
    assert_eq!(train(&alike).unwrap_err(), NotTrained::NothingDiffers);
    let noise: Vec<SettingsRun> = (0..12)
        .map(|number| SettingsRun {
            settings: settings(10.0 + number as f64, 4.0),
            ..run(number, if number * 7 % 4 < 2 { 4.0 } else { 90.0 }, 4.0)
        })
        .collect();
    let confidence = train(&noise).unwrap().confidence;
    assert!(confidence < RecurringSettings::default().least_confidence, "{confidence}");
}

fn with_cpu(run: &SettingsRun, times: f64) -> SettingsRun {
    SettingsRun {
        used: run.used.scaled(Resources::from_array([times, 1.0, 1.0, 1.0])),
        ..run.clone()
    }
}

fn trained(runs: &[SettingsRun]) -> SettingsModel {
    train(runs).unwrap()
}

#[test]
fn one_wild_run_is_named_and_spoils_nothing() {
    let mut runs = runs(16);
    runs[11] = with_cpu(&runs[11], 8.0);
    let model = trained(&runs);
    assert_eq!(model.left_out.len(), 1, "{:?}", model.left_out);
    let wild = &model.left_out[0];
    assert_eq!(wild.id, "run-11");
    assert!(
        matches!(wild.reason, Exclusion::OutlierForSettings(Measure::CpuTime, factor)
            if (7.0..9.0).contains(&factor)),
        "{}",
        wild.reason
    );
    // It is as if it had not been.
    runs.remove(11);
    let without = trained(&runs);
    assert_eq!(model.runs, without.runs);
    let total = |model: &SettingsModel| model.predict(&settings(15.0, 4.0)).unwrap().total();
    assert_eq!(total(&model), total(&without));
}

#[test]
fn what_repeats_may_differ_by_and_what_nothing_is_said_of_is_no_outlier() {
    let mut runs = runs(16);
    runs[11] = with_cpu(&runs[11], 2.0);
    // Nothing else ran on so much.
    runs[4] = with_cpu(&run(4, 200.0, 2.0), 5.0);
    let model = trained(&runs);
    assert!(model.left_out.is_empty(), "{:?}", model.left_out);
}

/// The newest so many of 20 runs use twice the CPU.
fn changed(newest: usize) -> SettingsModel {
    let mut runs = runs(20);
    for run in &mut runs[20 - newest..] {
        *run = with_cpu(run, 2.0);
    }
    trained(&runs)
}

#[test]
fn of_an_application_that_changed_too_few_runs_ago_nothing_is_said() {
    for newest in [2, 5] {
        let model = changed(newest);
        let said = model.predict(&settings(15.0, 4.0)).unwrap_err();
        assert_eq!(said, NotForeseen::Changed(newest));
        assert_eq!(model.left_out.len(), 20 - newest);
    }
}

#[test]
fn an_application_that_changed_is_foreseen_by_the_runs_since() {
    let was = elastane_predict::amount(&run(99, 15.0, 4.0).used).cpu_cores;
    for newest in [6, 13] {
        let model = changed(newest);
        assert_eq!(model.runs.len(), newest);
        assert_eq!(model.left_out.len(), 20 - newest);
        for left_out in &model.left_out {
            assert!(
                matches!(left_out.reason, Exclusion::BeforeDriftForSettings(_, factor)
                    if (0.45..0.55).contains(&factor)),
                "{}",
                left_out.reason
            );
        }
        let said = model.predict(&settings(15.0, 4.0)).unwrap();
        let ratio = said.total().cpu_cores / was;
        assert!((ratio - 2.0).abs() < 0.2, "{ratio} after {newest}");
    }
}
