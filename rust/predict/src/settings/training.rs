//! When to train a model of an application's settings.

use elastane_core::ContainerKind;

use super::{LEAST_RUNS, MOST_RUNS, NotForeseen, Settings, SettingsModel};

/// A model of n runs is trained again after n ÷ 10 newer runs.
const RUNS_FOR_EACH_NEW: usize = 10;

/// The latest succeeded runs that a model can be trained on, those with known settings, newest first.
/// None where they are too few, or their settings do not differ.
pub fn trainable(newest_first: Vec<(String, Settings)>) -> Option<Vec<(String, Settings)>> {
    let mut runs = newest_first;
    runs.truncate(MOST_RUNS);
    runs.retain(|(_, settings)| !settings.0.is_empty());
    let differ = runs.windows(2).any(|pair| pair[0].1 != pair[1].1);
    (runs.len() >= LEAST_RUNS && differ).then_some(runs)
}

/// Whether the models of an application's containers should be trained again: one of them cannot predict
/// the newest run's settings, or enough runs are newer than each model.
pub fn training_is_due<'m>(
    models: impl IntoIterator<Item = (ContainerKind, &'m SettingsModel)>,
    newest_first: &[(String, Settings)],
) -> bool {
    for (kind, model) in models {
        if let Some((_, settings)) = newest_first.first()
            && let Err(NotForeseen::Beyond(..) | NotForeseen::Always(..)) =
                model.knows(&settings.known_to(kind))
        {
            return true;
        }
        let newest = model.runs.first();
        let newer = newest_first.iter().take_while(|(id, _)| Some(id) != newest);
        if newer.count() * RUNS_FOR_EACH_NEW < model.runs.len().max(1) {
            return false;
        }
    }
    true
}
