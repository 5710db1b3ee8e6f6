//! Models of what an application's settings do.

use elastane_predict::{
    ContainerKind, MOST_RUNS, NotTrained, Run, Settings, SettingsModel, SettingsRun, kinds, train,
    trainable, training_is_due,
};
use elastane_store::{ModelRecord, StoreError};

use super::keeper::Keeper;

/// Its name among the models of an application.
const NAME: &str = "settings";

/// Of its bytes, which are JSON. 2: regressions have an offset.
const VERSION: u32 = 2;

impl Keeper {
    /// The model of an application's containers of one kind; none too where another version of
    /// Elastane trained it.
    pub(super) fn model(
        &self,
        key: &str,
        kind: ContainerKind,
    ) -> Result<Option<SettingsModel>, StoreError> {
        let record = self.depository.model(key, kind, NAME)?;
        Ok(record.and_then(|record| read(&record)))
    }

    /// The models of an application, of each kind of container.
    fn models(&self, key: &str) -> Result<Vec<(ContainerKind, SettingsModel)>, StoreError> {
        let records = self.depository.models(key)?;
        let named = records.iter().filter(|record| record.name == NAME);
        let read = named.filter_map(|record| Some((record.kind, read(record)?)));
        Ok(read.collect())
    }

    /// Whether models say that settings make no difference to any container.
    pub(super) fn is_indifferent(&self, key: &str) -> Result<bool, StoreError> {
        let models = self.models(key)?;
        let mut matter = models.iter().map(|(_, model)| model.settings_matter());
        Ok(!models.is_empty() && !matter.any(|matters| matters))
    }

    /// Trains the models of an application whose runs had settings that differ, where enough ran
    /// since the last time.
    pub(super) fn train_if_due(&mut self, key: &str) -> Result<(), StoreError> {
        let Some(given) = trainable(self.depository.latest_settings(key, MOST_RUNS)?) else {
            return Ok(());
        };
        let models = self.models(key)?;
        if !training_is_due(models.iter().map(|(kind, model)| (*kind, model)), &given) {
            return Ok(());
        }
        let mut runs = Vec::new();
        for (id, settings) in given.into_iter().rev() {
            if let Some(run) = self.depository.run(&id)? {
                runs.push((run, settings));
            }
        }
        let newest_ms = runs.last().map_or(0, |(run, _)| run.ended_ms);
        for kind in kinds(runs.iter().map(|(run, _)| run)) {
            self.train(key, kind, &runs, newest_ms)?;
        }
        // Which runs are of its settings may have changed.
        self.make_profile(key)
    }

    fn train(
        &mut self,
        key: &str,
        kind: ContainerKind,
        runs: &[(Run, Settings)],
        newest_ms: i64,
    ) -> Result<(), StoreError> {
        let runs: Vec<SettingsRun> = runs
            .iter()
            .filter_map(|(run, settings)| {
                Some(SettingsRun {
                    id: run.application_id.clone(),
                    settings: settings.known_to(kind),
                    // What is no demand is named when the profile is made.
                    used: run.used(kind).ok()??,
                })
            })
            .collect();
        let any = self.settings.recurring().at_any_confidence();
        let model = match train(&runs, &any) {
            Ok(model) => model,
            Err(reason) => {
                let level = match reason {
                    NotTrained::NotFitted { .. } => log::Level::Error,
                    _ => log::Level::Debug,
                };
                log::log!(level, "no model of the {kind} of {key}: {reason}");
                return Ok(());
            }
        };
        let bytes = match serde_json::to_vec(&model) {
            Ok(bytes) => bytes,
            Err(error) => {
                log::error!("the model of {key} cannot be kept: {error}");
                return Ok(());
            }
        };
        log::info!(
            "the settings of {key} were learned from {} runs, {} left out, of the {}: held-out error \
             {:.2}, {:.2} without settings, confidence {:.2}",
            model.runs().len(),
            model.left_out().len(),
            kind,
            model.error(),
            model.error_without_settings(),
            model.confidence(),
        );
        self.counts.trained();
        self.depository.save_model(&ModelRecord {
            application_key: key.to_owned(),
            kind,
            name: NAME.to_owned(),
            version: VERSION,
            trained_ms: newest_ms,
            held_out_error: model.error(),
            bytes,
        })
    }
}

/// None where another version of Elastane trained it.
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
