//! Recorded runs of applications.

use elastane_core::{Demand, StageEnds};
use elastane_predict::{Outcome, Settings, SettingsRun};

pub(super) struct RecordedApplication {
    pub(super) name: String,
    /// In the order of time.
    pub(super) runs: Vec<Recorded>,
}

pub(super) struct Recorded {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) used: Demand,
    /// Empty if the run told no stages.
    pub(super) stage_ends: StageEnds,
    /// Empty if the folder has none.
    pub(super) settings: Settings,
}

impl RecordedApplication {
    fn succeeded(&self) -> impl Iterator<Item = &Recorded> {
        let runs = self.runs.iter();
        runs.filter(|run| run.outcome == Outcome::Succeeded)
    }

    /// Whether the settings of succeeded runs differ.
    pub(super) fn settings_differ(&self) -> bool {
        let first = self.succeeded().next();
        let differs = |run: &Recorded| first.is_some_and(|first| first.settings != run.settings);
        self.succeeded().any(differs)
    }

    /// The succeeded runs to train a model on; none if their settings are alike.
    pub(super) fn differing(&self) -> Vec<SettingsRun> {
        if !self.settings_differ() {
            return Vec::new();
        }
        self.succeeded()
            .map(|run| SettingsRun {
                id: run.name.clone(),
                settings: run.settings.clone(),
                used: run.used.clone(),
            })
            .collect()
    }
}
