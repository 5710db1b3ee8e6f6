//! Predictions, and how accurate they were.

use elastane_core::{Demand, Resources};
use elastane_runs::{ContainerKind, PredictionMade, PredictionOutcome};
use rusqlite::{Connection, Row, params};

use crate::blob;
use crate::codes::{kind_code, kind_of};
use crate::depository::Depository;
use crate::error::StoreError;

/// The prediction of one run and kind of container, from before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionRecord {
    /// The run.
    pub application_id: String,
    /// The key of its signature.
    pub application_key: String,
    /// The kind of containers.
    pub kind: ContainerKind,
    /// When, in Unix milliseconds.
    pub made_ms: i64,
    /// How it was made, and from which runs.
    pub made: PredictionMade,
    /// The demand that was planned by; none where the request stood.
    pub bound: Option<Demand>,
    /// How accurate it was; none before the run has ended.
    pub outcome: Option<PredictionOutcome>,
}

/// A prediction as it is written.
pub(crate) struct EncodedPrediction<'a> {
    prediction: &'a PredictionRecord,
    made: String,
    bound: Option<Vec<u8>>,
    bound_slot_ms: Option<u32>,
}

impl EncodedPrediction<'_> {
    pub(crate) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let prediction = self.prediction;
        let id = &prediction.application_id;
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO prediction (application_id, application_key, kind,
                     made_ms, made, bound, bound_slot_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                id,
                prediction.application_key,
                kind_code(prediction.kind),
                prediction.made_ms,
                self.made,
                self.bound,
                self.bound_slot_ms
            ])?;
        if let Some(outcome) = &prediction.outcome {
            complete(connection, id, prediction.kind, outcome)?;
        }
        Ok(())
    }
}

const COLUMNS: &str = "application_id, application_key, kind, made_ms, made, bound, bound_slot_ms,
    actual_length_ms, cpu_coverage, memory_coverage, network_coverage, disk_coverage,
    cpu_waste, memory_waste, network_waste, disk_waste";

impl Depository {
    /// Saves a prediction. One of the same run and kind is replaced.
    ///
    /// # Errors
    /// An amount that is not finite and at least 0, or as [`Depository::save`].
    pub fn save_prediction(&mut self, prediction: &PredictionRecord) -> Result<(), StoreError> {
        let encoded = self.encode_prediction(prediction)?;
        let action = format!("save the prediction of {}", prediction.application_id);
        self.change(&action, |transaction| encoded.insert(transaction))
    }

    pub(crate) fn encode_prediction<'a>(
        &self,
        prediction: &'a PredictionRecord,
    ) -> Result<EncodedPrediction<'a>, StoreError> {
        let name = || name_of(&prediction.application_id, &prediction.application_key);
        let bound = prediction.bound.as_ref();
        let bound = bound.map(|bound| Ok((blob::encode(bound.slots())?, bound.slot_ms())));
        let (bound, bound_slot_ms) = bound
            .transpose()
            .map_err(|reason: String| self.bad(name(), reason))?
            .unzip();
        let made =
            serde_json::to_string(&prediction.made).map_err(|error| self.bad(name(), error))?;
        Ok(EncodedPrediction {
            prediction,
            made,
            bound,
            bound_slot_ms,
        })
    }

    /// Adds to a prediction how accurate it was; false where this run and kind have none.
    ///
    /// # Errors
    /// As [`Depository::forget`].
    pub fn complete_prediction(
        &mut self,
        application_id: &str,
        kind: ContainerKind,
        outcome: &PredictionOutcome,
    ) -> Result<bool, StoreError> {
        let action = format!("complete the prediction of {application_id}");
        self.change(&action, |transaction| {
            complete(transaction, application_id, kind, outcome)
        })
    }

    /// The latest `n` predictions of an application, newest first.
    ///
    /// # Errors
    /// One that cannot be read, named; or SQLite's.
    pub fn predictions(&self, key: &str, n: usize) -> Result<Vec<PredictionRecord>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM prediction WHERE application_key = ?1
             ORDER BY made_ms DESC, application_id DESC, kind LIMIT ?2"
        );
        let limit = i64::try_from(n).unwrap_or(i64::MAX);
        self.read_predictions(&statement, params![key, limit], key)
    }

    /// The predictions of one run.
    ///
    /// # Errors
    /// As [`Depository::predictions`].
    pub fn predictions_of_run(&self, id: &str) -> Result<Vec<PredictionRecord>, StoreError> {
        let statement =
            format!("SELECT {COLUMNS} FROM prediction WHERE application_id = ?1 ORDER BY kind");
        self.read_predictions(&statement, params![id], id)
    }

    fn read_predictions(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        of: &str,
    ) -> Result<Vec<PredictionRecord>, StoreError> {
        self.rows(statement, parameters, row)
            .map_err(|error| self.failed(&format!("read the predictions of {of}"), error))?
            .into_iter()
            .map(|row| {
                let name = name_of(&row.id, &row.key);
                row.read().map_err(|reason| self.bad(name, reason))
            })
            .collect()
    }
}

fn complete(
    connection: &Connection,
    application_id: &str,
    kind: ContainerKind,
    outcome: &PredictionOutcome,
) -> rusqlite::Result<bool> {
    let PredictionOutcome {
        length_ms,
        coverage: [c1, c2, c3, c4],
        waste: [w1, w2, w3, w4],
    } = outcome;
    let kind = kind_code(kind);
    let changed = connection
        .prepare_cached(
            "UPDATE prediction SET actual_length_ms = ?3,
                 cpu_coverage = ?4, memory_coverage = ?5, network_coverage = ?6, disk_coverage = ?7,
                 cpu_waste = ?8, memory_waste = ?9, network_waste = ?10, disk_waste = ?11
             WHERE application_id = ?1 AND kind = ?2",
        )?
        .execute(params![
            application_id,
            kind,
            length_ms,
            c1,
            c2,
            c3,
            c4,
            w1,
            w2,
            w3,
            w4
        ])?;
    Ok(changed > 0)
}

/// A row whose packed columns are not read yet.
struct Stored {
    id: String,
    key: String,
    kind: i64,
    made_ms: i64,
    made: String,
    bound: Option<Vec<u8>>,
    bound_slot_ms: Option<u32>,
    length_ms: Option<i64>,
    coverage: [Option<f64>; 4],
    waste: [Option<f64>; 4],
}

fn row(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let four = |first: usize| -> rusqlite::Result<[Option<f64>; 4]> {
        let [a, b, c, d] = [first, first + 1, first + 2, first + 3].map(|at| row.get(at));
        Ok([a?, b?, c?, d?])
    };
    Ok(Stored {
        id: row.get(0)?,
        key: row.get(1)?,
        kind: row.get(2)?,
        made_ms: row.get(3)?,
        made: row.get(4)?,
        bound: row.get(5)?,
        bound_slot_ms: row.get(6)?,
        length_ms: row.get(7)?,
        coverage: four(8)?,
        waste: four(12)?,
    })
}

impl Stored {
    fn read(self) -> Result<PredictionRecord, String> {
        let bound = match (self.bound, self.bound_slot_ms) {
            (Some(bytes), Some(slot_ms)) => Some(demand(slot_ms, &blob::decode(&bytes)?)?),
            _ => None,
        };
        let outcome = self.length_ms.map(|length_ms| PredictionOutcome {
            length_ms,
            coverage: self.coverage.map(|coverage| coverage.unwrap_or_default()),
            waste: self.waste,
        });
        Ok(PredictionRecord {
            application_id: self.id,
            application_key: self.key,
            kind: kind_of(self.kind)?,
            made_ms: self.made_ms,
            made: serde_json::from_str(&self.made).map_err(|error| error.to_string())?,
            bound,
            outcome,
        })
    }
}

fn demand(slot_ms: u32, slots: &[Resources]) -> Result<Demand, String> {
    Demand::series(slot_ms, slots).map_err(|error| error.to_string())
}

fn name_of(application_id: &str, key: &str) -> String {
    format!("the prediction of {application_id} of {key}")
}
