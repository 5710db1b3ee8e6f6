//! Runs of an application whose length follows its setting `--rounds`.

use elastane_core::Resources;
use elastane_predict::{
    ContainerKind, Foreseen, KnownRuns, Outcome, PastRun, RecurringSettings, Run, RunSeries,
    Settings, SettingsModel, SettingsRun, train,
};

/// A run and its settings.
#[derive(Clone)]
pub struct GivenRun {
    pub run: Run,
    pub settings: Settings,
}

pub const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

pub fn given(rounds: f64) -> Settings {
    Settings([("--rounds".to_owned(), rounds)].into())
}

/// Two phases of as many slots as it has rounds. No two runs are quite alike.
pub fn run(number: usize, rounds: f64, slots: f64) -> GivenRun {
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
                stage_ends_ms: Vec::new(),
                kind: KIND,
                containers: 1,
                slots: (0..slots).map(use_in).collect(),
            }],
        },
        settings: given(rounds),
    }
}

/// Twice as many rounds take twice as long.
pub fn runs_of(rounds: &[f64]) -> Vec<GivenRun> {
    let numbered = rounds.iter().enumerate();
    numbered.map(|(number, rounds)| run(number, *rounds, 2.0 * rounds)).collect()
}

pub const VARIED: [f64; 12] =
    [10.0, 40.0, 15.0, 30.0, 55.0, 12.0, 22.0, 48.0, 33.0, 18.0, 27.0, 44.0];

pub fn model(runs: &[GivenRun]) -> SettingsModel {
    let runs: Vec<SettingsRun> = runs
        .iter()
        .map(|it| SettingsRun {
            id: it.run.application_id.clone(),
            settings: it.settings.clone(),
            used: it.run.used(KIND).unwrap().unwrap(),
        })
        .collect();
    train(&runs).unwrap()
}

/// As whoever keeps the runs asks.
pub fn foreseen(runs: &[GivenRun], model: Option<&SettingsModel>, next: &Settings) -> Foreseen {
    let newest_first = runs.iter().rev();
    let latest: Vec<GivenRun> = newest_first.clone().take(6).cloned().collect();
    let same = newest_first.filter(|it| it.settings.agree(next)).take(6);
    let same: Vec<GivenRun> = same.cloned().collect();
    foresee(&latest, &same, model, next, &RecurringSettings::default())
}

/// Of the runs before, the latest and those with the same settings.
pub fn foresee(
    latest: &[GivenRun],
    same: &[GivenRun],
    model: Option<&SettingsModel>,
    next: &Settings,
    settings: &RecurringSettings,
) -> Foreseen {
    let past = |runs: &[GivenRun]| {
        let runs: Vec<Run> = runs.iter().map(|it| it.run.clone()).collect();
        PastRun::all(&runs, KIND)
    };
    let given = |it: &GivenRun| (it.run.application_id.clone(), it.settings.clone());
    let settings_of_latest: Vec<_> = latest.iter().map(given).collect();
    let (latest, same) = (past(latest), past(same));
    let known =
        KnownRuns { latest: &latest, same: &same, settings_of_latest: &settings_of_latest, model };
    known.foresee(next, settings)
}
