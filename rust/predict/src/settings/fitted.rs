//! The regressions of some runs, and what they say of a run.

use super::curve::NotFitted;
use super::regression::Regression;
use super::scale::Scale;
use super::search::{means_of_others, search};
use super::targets::{Missed, Targets};
use super::{NotForeseen, Settings, SettingsRun};

/// One for each of the targets; none where no run used any.
pub(super) type Regressions = [Option<Regression>; Targets::COUNT];

/// Settings say something where the regressions miss held-out runs by less than this part of what
/// their mean misses them by: the best of 24 regressions is a little better than the mean by chance.
const WORTH: f64 = 0.75;

/// Runs, and the regressions that miss them the least while they are held out.
pub(super) struct Fitted<'r> {
    /// The latest last.
    pub(super) runs: Vec<&'r SettingsRun>,
    pub(super) scale: Scale,
    pub(super) regressions: Regressions,
    /// What was said of each run while it was held out.
    pub(super) said: Vec<Targets>,
    were: Vec<Targets>,
    /// The same as is said, without settings.
    without: Vec<Targets>,
}

impl<'r> Fitted<'r> {
    /// Of runs, the latest last; none where no setting differs.
    pub(super) fn of(runs: Vec<&'r SettingsRun>) -> Result<Option<Self>, NotFitted> {
        let scale = Scale::of(runs.iter().map(|run| &run.settings));
        if scale.is_empty() {
            return Ok(None);
        }
        let points: Vec<Vec<f64>> = runs
            .iter()
            .filter_map(|run| scale.point(&run.settings).ok())
            .collect();
        let were: Vec<Targets> = runs.iter().map(|run| Targets::of(&run.used)).collect();
        let mut said = were.clone();
        let mut without = were.clone();
        let mut regressions = [const { None }; Targets::COUNT];
        for (target, regression) in regressions.iter_mut().enumerate() {
            let Some(logarithms) = Targets::logarithms(&were, target) else {
                continue;
            };
            let searched = search(&points, &logarithms)?;
            let means = means_of_others(&logarithms);
            for (said, logarithm) in said.iter_mut().zip(searched.held_out) {
                said.set(target, logarithm.exp());
            }
            for (said, logarithm) in without.iter_mut().zip(means) {
                said.set(target, logarithm.exp());
            }
            *regression = Some(searched.regression);
        }
        Ok(Some(Self {
            runs,
            scale,
            regressions,
            said,
            were,
            without,
        }))
    }

    /// By how much each run was missed while it was held out.
    pub(super) fn missed(&self) -> Vec<Missed> {
        let pairs = self.were.iter().zip(&self.said);
        pairs.map(|(was, said)| was.missed(said)).collect()
    }

    /// By how much a run that is not among these is missed; none where nothing like its settings is.
    pub(super) fn missed_of(&self, run: &SettingsRun) -> Option<Missed> {
        let said = said(&self.scale, &self.regressions, &run.settings).ok()?;
        Some(Targets::of(&run.used).missed(&said))
    }

    /// See [`super::SettingsModel::error`].
    pub(super) fn error(&self) -> f64 {
        mean_error(&self.said, &self.were)
    }

    /// See [`super::SettingsModel::error_without_settings`].
    pub(super) fn error_without(&self) -> f64 {
        mean_error(&self.without, &self.were)
    }

    /// See [`super::SettingsModel::settings_matter`].
    pub(super) fn settings_matter(&self) -> bool {
        settings_matter(self.error(), self.error_without())
    }
}

/// Whether settings say something, by what is missed with and without them.
pub(super) fn settings_matter(error: f64, error_without: f64) -> bool {
    error < WORTH * error_without
}

/// What regressions say of these settings.
pub(super) fn said(
    scale: &Scale,
    regressions: &Regressions,
    settings: &Settings,
) -> Result<Targets, NotForeseen> {
    let point = scale.point(settings)?;
    let mut targets = Targets::default();
    for (target, regression) in regressions.iter().enumerate() {
        if let Some(regression) = regression {
            targets.set(target, regression.at(&point).exp());
        }
    }
    Ok(targets)
}

fn mean_error(said: &[Targets], were: &[Targets]) -> f64 {
    let pairs = said.iter().zip(were);
    let sum: f64 = pairs.map(|(said, was)| said.error(was)).sum();
    sum / were.len().max(1) as f64
}
