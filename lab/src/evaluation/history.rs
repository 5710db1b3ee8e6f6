//! The runs of an application, foreseen one after the other.

use elastane_predict::{
    ContainerKind, Foreseen, KnownRuns, LOOKED_THROUGH, MOST_RUNS, Outcome, PastRun,
    RecurringSettings, Settings, SettingsModel, SettingsRun, train, trainable, training_is_due,
};

/// The runs looked at, as a multiple of the runs that a prediction is made from.
const LOOKED_AT: usize = 2;

/// The containers of one kind of an application, run after run. They are foreseen as in the scheduler
/// ([`KnownRuns::foresee`]), by models that are trained when the scheduler trains them.
#[derive(Debug, Clone)]
pub struct History {
    kind: ContainerKind,
    settings: RecurringSettings,
    /// The latest last.
    runs: Vec<PastRun>,
    given: Vec<Settings>,
    model: Option<SettingsModel>,
}

impl History {
    /// An application without runs.
    pub fn new(kind: ContainerKind, settings: RecurringSettings) -> Self {
        Self { kind, settings, runs: Vec::new(), given: Vec::new(), model: None }
    }

    /// The latest last.
    pub fn runs(&self) -> &[PastRun] {
        &self.runs
    }

    /// Predicts the next run, which has the settings `given`.
    pub fn foresee(&self, given: &Settings) -> Foreseen {
        let given = given.known_to(self.kind);
        let looked_at = self.settings.runs.saturating_mul(LOOKED_AT);
        let settings_of_latest = self.succeeded(looked_at);
        // Runs that all had the same settings are all looked at.
        let differ = self.given.iter().any(|it| !it.agree(&given));
        let looked_through = if differ { LOOKED_THROUGH } else { usize::MAX };
        let mut same: Vec<PastRun> = self
            .newest_first()
            .take(looked_through)
            .filter(|(_, it)| it.agree(&given))
            .map(|(run, _)| run.clone())
            .collect();
        same.reverse();
        KnownRuns {
            latest: &self.runs,
            same: &same,
            settings_of_latest: &settings_of_latest,
            model: self.model.as_ref(),
        }
        .foresee(&given, &self.settings)
    }

    /// Adds the run that has just ended, and trains a model if the scheduler would.
    pub fn add(&mut self, run: PastRun, given: &Settings) {
        let has_succeeded = run.outcome == Outcome::Succeeded;
        self.runs.push(run);
        self.given.push(given.known_to(self.kind));
        if has_succeeded {
            self.train_if_due();
        }
    }

    fn train_if_due(&mut self) {
        let Some(newest_first) = trainable(self.succeeded(MOST_RUNS)) else {
            return;
        };
        let models = self.model.iter().map(|model| (self.kind, model));
        if !training_is_due(models, &newest_first) {
            return;
        }
        let used = |id: &String| self.runs.iter().find(|run| run.id == *id);
        let runs: Vec<SettingsRun> = newest_first
            .iter()
            .rev()
            .filter_map(|(id, settings)| {
                Some(SettingsRun {
                    id: id.clone(),
                    settings: settings.clone(),
                    used: used(id)?.used.clone(),
                })
            })
            .collect();
        // Without a new model the former one stays.
        if let Ok(model) = train(&runs) {
            self.model = Some(model);
        }
    }

    /// The latest runs that succeeded, newest first, with their settings.
    fn succeeded(&self, most: usize) -> Vec<(String, Settings)> {
        let succeeded = self.newest_first().filter(|(run, _)| run.outcome == Outcome::Succeeded);
        succeeded.take(most).map(|(run, settings)| (run.id.clone(), settings.clone())).collect()
    }

    fn newest_first(&self) -> impl Iterator<Item = (&PastRun, &Settings)> {
        self.runs.iter().zip(&self.given).rev()
    }
}
