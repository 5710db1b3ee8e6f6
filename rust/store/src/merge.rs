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
}

impl Depository {
    /// Takes over every run of another depository that is not here yet, by application id. The
    /// other file is only read. Runs are added one by one: after an error those before it stay, and
    /// the merge can be made again.
    ///
    /// # Errors
    /// As [`Depository::open_existing`] for the other file, and as [`Depository::save`].
    pub fn merge(&mut self, from: &Path) -> Result<MergeReport, StoreError> {
        let other = Depository::open_existing(from, Access::Read)?;
        let mut report = MergeReport::default();
        other.for_each_run(|run| {
            if self.has(&run.application_id)? {
                report.kept += 1;
            } else {
                self.save(&run)?;
                report.added += 1;
            }
            Ok(())
        })?;
        Ok(report)
    }

    fn has(&self, application_id: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM run WHERE application_id = ?1")
            .and_then(|mut statement| statement.exists([application_id]))
            .map_err(|error| self.failed(&format!("look for run {application_id}"), error))
    }
}
