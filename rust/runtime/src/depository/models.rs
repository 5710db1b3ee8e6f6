//! Models of settings, as the depository has them.

use std::collections::BTreeMap;

use elastane_predict::{NotTrained, SettingsModel};
use elastane_runs::ContainerKind;
use elastane_store::{Depository, ModelRecord, StoreError};

use crate::counters::{Counters, count};

/// The name of these among the models of an application.
const NAME: &str = "settings";

/// The version of a model's bytes, which are JSON.
const VERSION: u32 = 4;

/// The models of one application.
pub(crate) struct Trained {
    pub(super) key: String,
    /// When the newest run ended.
    pub(super) newest_ms: i64,
    pub(super) models: Vec<(ContainerKind, Result<SettingsModel, NotTrained>)>,
}

/// The models of an application, by kind of container; those of another version of Elastane are left
/// out.
pub(super) fn models(
    depository: &Depository,
    key: &str,
) -> Result<BTreeMap<ContainerKind, SettingsModel>, StoreError> {
    let records = depository.models(key)?;
    let named = records.iter().filter(|record| record.name == NAME);
    let read = named.filter_map(|record| Some((record.kind, read(record)?)));
    Ok(read.collect())
}

/// Whether models exist, and say that settings make no difference to any container.
pub(super) fn is_indifferent(depository: &Depository, key: &str) -> Result<bool, StoreError> {
    let models = models(depository, key)?;
    let mut matter = models.values().map(SettingsModel::settings_matter);
    Ok(!models.is_empty() && !matter.any(|matters| matters))
}

/// Saves the models that were trained, and logs why others were not.
pub(super) fn save(
    depository: &mut Depository,
    trained: &Trained,
    counters: &Counters,
) -> Result<(), StoreError> {
    let key = &trained.key;
    for (kind, model) in &trained.models {
        let model = match model {
            Ok(model) => model,
            Err(reason) => {
                let level = match reason {
                    NotTrained::NotFitted { .. } => log::Level::Error,
                    _ => log::Level::Debug,
                };
                log::log!(level, "no model of the {kind} of {key}: {reason}");
                continue;
            }
        };
        let written = serde_json::to_vec(model)
            .inspect_err(|error| log::error!("the model of {key} is not saved: {error}"));
        let Ok(bytes) = written else { continue };
        log::info!(
            "{key}: a model of how settings change the use of the {kind} is trained on {} runs ({} \
             left out): held-out error {:.2}, {:.2} without settings; confidence {:.2}",
            model.runs.len(),
            model.left_out.len(),
            model.error,
            model.error_without_settings,
            model.confidence,
        );
        count(&counters.models_trained);
        depository.save_model(&ModelRecord {
            application_key: key.clone(),
            kind: *kind,
            name: NAME.to_owned(),
            version: VERSION,
            trained_ms: trained.newest_ms,
            held_out_error: model.error,
            bytes,
        })?;
    }
    Ok(())
}

fn read(record: &ModelRecord) -> Option<SettingsModel> {
    if record.version != VERSION {
        return None;
    }
    let read = serde_json::from_slice(&record.bytes);
    // The next training replaces it.
    read.inspect_err(|error| {
        let key = &record.application_key;
        log::error!("the model of {key} cannot be read: {error}");
    })
    .ok()
}
