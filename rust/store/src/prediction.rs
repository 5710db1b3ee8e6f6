//! Predictions, and how accurate they were.

use elastane_core::Demand;
use elastane_runs::{ContainerKind, PredictionMade, PredictionOutcome};
use rusqlite::{Connection, Row, params};

use crate::blob;
use crate::depository::Depository;
use crate::error::{StatementError, StoreError};

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

impl Depository {
    /// Saves a prediction. One of the same run and kind is replaced.
    ///
    /// # Errors
    /// An amount that is not finite and at least 0, or as [`Depository::save`].
    pub fn save_prediction(&mut self, prediction: &PredictionRecord) -> Result<(), StoreError> {
        let action = format!("save the prediction of {}", prediction.application_id);
        self.change(&action, |transaction| insert(transaction, prediction))
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
        self.change(&action, |transaction| complete(transaction, application_id, kind, outcome))
    }

    /// The predictions of one run.
    ///
    /// # Errors
    /// One that cannot be read; or SQLite's.
    pub fn predictions_of_run(&self, id: &str) -> Result<Vec<PredictionRecord>, StoreError> {
        let statement = "SELECT application_id, application_key, kind, made_ms, made, bound,
                bound_slot_ms, outcome
             FROM prediction WHERE application_id = ?1 ORDER BY kind";
        self.rows("read predictions", statement, [id], read)
    }
}

pub(crate) fn insert(
    connection: &Connection,
    prediction: &PredictionRecord,
) -> Result<(), StatementError> {
    let bound = prediction.bound.as_ref();
    let slots = bound.map(|bound| blob::encode(bound.slots())).transpose()?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO prediction (application_id, application_key, kind,
                 made_ms, made, bound, bound_slot_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            prediction.application_id,
            prediction.application_key,
            i64::from(prediction.kind),
            prediction.made_ms,
            serde_json::to_string(&prediction.made)?,
            slots,
            bound.map(Demand::slot_ms)
        ])?;
    if let Some(outcome) = &prediction.outcome {
        complete(connection, &prediction.application_id, prediction.kind, outcome)?;
    }
    Ok(())
}

fn complete(
    connection: &Connection,
    application_id: &str,
    kind: ContainerKind,
    outcome: &PredictionOutcome,
) -> Result<bool, StatementError> {
    let statement = "UPDATE prediction SET outcome = ?3 WHERE application_id = ?1 AND kind = ?2";
    let outcome = serde_json::to_string(outcome)?;
    let parameters = params![application_id, i64::from(kind), outcome];
    Ok(connection.prepare_cached(statement)?.execute(parameters)? > 0)
}

fn read(row: &Row<'_>) -> Result<PredictionRecord, StatementError> {
    let bound = match (row.get::<_, Option<Vec<u8>>>(5)?, row.get(6)?) {
        (Some(slots), Some(slot_ms)) => Some(demand(slot_ms, &slots)?),
        _ => None,
    };
    let outcome: Option<String> = row.get(7)?;
    Ok(PredictionRecord {
        application_id: row.get(0)?,
        application_key: row.get(1)?,
        kind: ContainerKind::try_from(row.get::<_, i64>(2)?)?,
        made_ms: row.get(3)?,
        made: serde_json::from_str(&row.get::<_, String>(4)?)?,
        bound,
        outcome: outcome.map(|json| serde_json::from_str(&json)).transpose()?,
    })
}

fn demand(slot_ms: u32, slots: &[u8]) -> Result<Demand, String> {
    Demand::series(slot_ms, &blob::decode(slots)?).map_err(|error| error.to_string())
}
