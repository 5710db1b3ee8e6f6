//! Trained models.

use elastane_runs::ContainerKind;
use rusqlite::params;

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
        let action = format!("save the model {} of {}", model.name, model.application_key);
        self.change(&action, |transaction| {
            let length = model.bytes.len();
            if length > MOST_BYTES {
                return Err(format!("{length} bytes, at most {MOST_BYTES} are kept").into());
            }
            let statement = "INSERT OR REPLACE INTO model (application_key, kind, name, version,
                trained_ms, held_out_error, model) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            transaction.execute(
                statement,
                params![
                    model.application_key,
                    i64::from(model.kind),
                    model.name,
                    model.version,
                    model.trained_ms,
                    model.held_out_error,
                    compress(&model.bytes)?
                ],
            )?;
            Ok(())
        })
    }

    /// Every model of an application, by kind and name.
    ///
    /// # Errors
    /// One that cannot be read, named; or SQLite's.
    pub fn models(&self, key: &str) -> Result<Vec<ModelRecord>, StoreError> {
        let statement = "SELECT name, kind, version, trained_ms, held_out_error, model
                         FROM model WHERE application_key = ?1 ORDER BY kind, name";
        let action = format!("read the models of {key}");
        self.rows(&action, statement, [key], |row| {
            Ok(ModelRecord {
                application_key: key.to_owned(),
                name: row.get(0)?,
                kind: ContainerKind::try_from(row.get::<_, i64>(1)?)?,
                version: row.get(2)?,
                trained_ms: row.get(3)?,
                held_out_error: row.get(4)?,
                bytes: decompress(&row.get::<_, Vec<u8>>(5)?, MOST_BYTES)?,
            })
        })
    }
}
