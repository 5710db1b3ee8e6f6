//! Trained models.

use elastane_runs::ContainerKind;
use rusqlite::params;

use crate::codes::{kind_code, kind_of};
use crate::compression::{compress, decompress};
use crate::depository::Depository;
use crate::error::StoreError;

/// A larger model is refused.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A model of one application. The depository does not know the format of its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRecord {
    /// The key of the application's signature.
    pub application_key: String,
    /// The kind of containers that it predicts.
    pub kind: ContainerKind,
    /// Tells the models of one application apart.
    pub name: String,
    /// The version of the bytes' format; readers ignore unknown versions.
    pub version: u32,
    /// When it was trained, in Unix milliseconds.
    pub trained_ms: i64,
    /// The error on held-out runs, as a part of what they used.
    pub held_out_error: f64,
    /// The model.
    pub bytes: Vec<u8>,
}

impl Depository {
    /// Saves a model. One of the same application, kind and name is replaced.
    ///
    /// # Errors
    /// A model above 16 MiB, or as [`Depository::forget`].
    pub fn save_model(&mut self, model: &ModelRecord) -> Result<(), StoreError> {
        let bad = |reason| self.bad(name_of(&model.application_key, &model.name), reason);
        if model.bytes.len() > MOST_BYTES {
            let length = model.bytes.len();
            return Err(bad(format!(
                "{length} bytes, at most {MOST_BYTES} are kept"
            )));
        }
        let bytes = compress(&model.bytes).map_err(bad)?;
        let action = format!("save the model {} of {}", model.name, model.application_key);
        self.change(&action, |transaction| {
            let statement = "INSERT OR REPLACE INTO model (application_key, kind, name, version,
                trained_ms, held_out_error, model) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            transaction.prepare_cached(statement)?.execute(params![
                model.application_key,
                kind_code(model.kind),
                model.name,
                model.version,
                model.trained_ms,
                model.held_out_error,
                bytes
            ])
        })?;
        Ok(())
    }

    /// Every model of an application, by kind and name.
    ///
    /// # Errors
    /// One that cannot be read, named; or SQLite's.
    pub fn models(&self, key: &str) -> Result<Vec<ModelRecord>, StoreError> {
        let statement = "SELECT kind, name, version, trained_ms, held_out_error, model
                         FROM model WHERE application_key = ?1 ORDER BY kind, name";
        let read = |row: &rusqlite::Row<'_>| {
            let kind: i64 = row.get(0)?;
            let model = ModelRecord {
                application_key: key.to_owned(),
                kind: ContainerKind::DEFAULT_EXECUTOR,
                name: row.get(1)?,
                version: row.get(2)?,
                trained_ms: row.get(3)?,
                held_out_error: row.get(4)?,
                bytes: row.get(5)?,
            };
            Ok((kind, model))
        };
        self.rows(statement, [key], read)
            .map_err(|error| self.failed(&format!("read the models of {key}"), error))?
            .into_iter()
            .map(|(kind, model)| {
                let bad = |reason| self.bad(name_of(key, &model.name), reason);
                Ok(ModelRecord {
                    kind: kind_of(kind).map_err(bad)?,
                    bytes: decompress(&model.bytes, MOST_BYTES).map_err(bad)?,
                    ..model.clone()
                })
            })
            .collect()
    }

    /// The model of an application with this name.
    ///
    /// # Errors
    /// As [`Depository::models`].
    pub fn model(
        &self,
        key: &str,
        kind: ContainerKind,
        name: &str,
    ) -> Result<Option<ModelRecord>, StoreError> {
        let mut models = self.models(key)?.into_iter();
        Ok(models.find(|model| model.kind == kind && model.name == name))
    }
}

fn name_of(key: &str, name: &str) -> String {
    format!("the model {name} of {key}")
}
