//! When a model of an application's settings is trained.

use elastane_core::ContainerKind;

use super::{LEAST_RUNS, MOST_RUNS, NotForeseen, Settings, SettingsModel};
use crate::recurring::RecurringSettings;

/// A model is trained anew after one run for each so many that it was trained on.
const RUNS_FOR_EACH_NEW: usize = 10;

impl RecurringSettings {
    /// How a model that is kept is trained: how sure it has to be is asked when it is used.
    #[must_use]
    pub fn at_any_confidence(self) -> Self {
        Self {
            least_confidence: 0.0,
            ..self
        }
    }
}

/// Of an application's latest runs that succeeded those that a model is trained on, newest first:
/// what they were given has to be known. None where it does not differ, or they are too few.
#[must_use]
pub fn trainable(newest_first: Vec<(String, Settings)>) -> Option<Vec<(String, Settings)>> {
    let mut runs = newest_first;
    runs.truncate(MOST_RUNS);
    runs.retain(|(_, settings)| !settings.0.is_empty());
    let differ = runs.windows(2).any(|pair| pair[0].1 != pair[1].1);
    (runs.len() >= LEAST_RUNS && differ).then_some(runs)
}

/// Whether so much ran since the models of an application's containers were trained: the newest run
/// is unlike those that one of them knows, or enough runs are newer than those of each.
#[must_use]
pub fn training_is_due<'m>(
    models: impl IntoIterator<Item = (ContainerKind, &'m SettingsModel)>,
    newest_first: &[(String, Settings)],
) -> bool {
    for (kind, model) in models {
        if let Some((_, settings)) = newest_first.first()
            && let Err(NotForeseen::Beyond { .. } | NotForeseen::Always { .. }) =
                model.knows(&settings.known_to(kind))
        {
            return true;
        }
        let newest = model.runs().first();
        let newer = newest_first.iter().take_while(|(id, _)| Some(id) != newest);
        if newer.count() * RUNS_FOR_EACH_NEW < model.runs().len().max(1) {
            return false;
        }
    }
    true
}
