//! Taking over the runs of another depository.

use std::path::Path;

use crate::depository::Depository;
use crate::error::StoreError;
use crate::open::Access;

/// What a merge did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Runs that were new here.
    pub added: usize,
    /// Runs that were here already, by application id, and stayed as they were.
    pub kept: usize,
    /// Models that were new here or trained later than the one that was.
    pub models: usize,
}

impl Depository {
    /// Takes over every run of another depository that is not here yet, by application id, with
    /// its submission and its predictions; and every model that is not here or was trained later.
    /// The other file is only read, and what it records of running applications is left alone. Runs
    /// are added one by one: after an error those before it stay, and the merge can be made again.
    ///
    /// # Errors
    /// As [`Depository::open_existing`] for the other file, and as [`Depository::save`].
    pub fn merge(&mut self, from: &Path) -> Result<MergeReport, StoreError> {
        let other = Depository::open_existing(from, Access::Read)?;
        let mut report = MergeReport::default();
        other.for_each_run(|run| {
            let id = &run.application_id;
            if self.has(id)? {
                report.kept += 1;
                return Ok(());
            }
            let submission = other.submission(id)?;
            let predictions = other.predictions_of_run(id)?;
            self.save_with(&run, submission.as_ref(), &predictions)?;
            report.added += 1;
            Ok(())
        })?;
        for key in other.modelled()? {
            for model in other.models(&key)? {
                let here = self.model(&key, model.kind, &model.name)?;
                if here.is_none_or(|here| here.trained_ms < model.trained_ms) {
                    self.save_model(&model)?;
                    report.models += 1;
                }
            }
        }
        Ok(report)
    }

    /// The applications that have a model.
    fn modelled(&self) -> Result<Vec<String>, StoreError> {
        let statement = "SELECT DISTINCT application_key FROM model ORDER BY application_key";
        self.rows(statement, [], |row| row.get(0))
            .map_err(|error| self.failed("list its models", error))
    }

    fn has(&self, application_id: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM run WHERE application_id = ?1")
            .and_then(|mut statement| statement.exists([application_id]))
            .map_err(|error| self.failed(&format!("look for run {application_id}"), error))
    }
}
