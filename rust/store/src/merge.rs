//! Merging the runs of another depository into this one.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use std::vec;

use crate::depository::Depository;
use crate::error::StoreError;
use crate::open::{Access, check_pages};

/// The result of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Runs that were new here.
    pub added: usize,
    /// Runs that were here already, by application id, and stayed as they were.
    pub kept: usize,
    /// Models that were new here, or trained later than the one that was.
    pub models: usize,
}

/// A merge in steps: whoever has other work, too, is not kept from it.
///
/// A merge adds every run that is not here yet, by application id, with its submission and
/// predictions, and every model that is not here or was trained later. The other file is only read;
/// its open runs are ignored. After an error the runs added so far stay, and the merge can be
/// repeated.
#[derive(Debug)]
pub struct Merge {
    other: Depository,
    runs: vec::IntoIter<String>,
    modelled: vec::IntoIter<String>,
    report: MergeReport,
    changed: BTreeSet<String>,
}

impl Merge {
    /// Begins to merge from this file. Checks every page first: the file may come from another machine.
    ///
    /// # Errors
    /// Damage, or as [`Depository::open_existing`] for reading.
    pub fn open(from: &Path) -> Result<Self, StoreError> {
        let other = Depository::open_existing(from, Access::Read)?;
        check_pages(&other.connection, from)?;
        let list = |statement: &str| -> Result<Vec<String>, StoreError> {
            other.rows("list its runs and models", statement, [], |row| Ok(row.get(0)?))
        };
        let runs = list("SELECT application_id FROM run ORDER BY ended_ms, id")?;
        let modelled = list("SELECT DISTINCT application_key FROM model ORDER BY application_key")?;
        Ok(Self {
            runs: runs.into_iter(),
            modelled: modelled.into_iter(),
            report: MergeReport::default(),
            changed: BTreeSet::new(),
            other,
        })
    }

    /// Merges for about this long; gives the report once everything is merged.
    ///
    /// # Errors
    /// A record of the other file that cannot be read, or as [`Depository::save`].
    pub fn step(
        &mut self,
        into: &mut Depository,
        length: Duration,
    ) -> Result<Option<MergeReport>, StoreError> {
        let begin = Instant::now();
        while begin.elapsed() < length {
            if let Some(id) = self.runs.next() {
                self.merge_run(into, &id)?;
            } else if let Some(key) = self.modelled.next() {
                self.merge_models(into, &key)?;
            } else {
                return Ok(Some(self.report));
            }
        }
        Ok(None)
    }

    /// The keys of the applications that have new runs or models.
    pub fn into_changed(self) -> Vec<String> {
        self.changed.into_iter().collect()
    }

    fn merge_run(&mut self, into: &mut Depository, id: &str) -> Result<(), StoreError> {
        if into.has(id)? {
            self.report.kept += 1;
            return Ok(());
        }
        // The other file may be in use: a run may have been removed meanwhile.
        let Some(run) = self.other.run(id)? else {
            return Ok(());
        };
        let submission = self.other.submission(id)?;
        let predictions = self.other.predictions_of_run(id)?;
        into.save_with(&run, submission.as_ref(), &predictions)?;
        self.report.added += 1;
        self.changed.insert(run.application_key);
        Ok(())
    }

    fn merge_models(&mut self, into: &mut Depository, key: &str) -> Result<(), StoreError> {
        let here = into.models(key)?;
        for model in self.other.models(key)? {
            let mut same =
                here.iter().filter(|here| here.kind == model.kind && here.name == model.name);
            if same.all(|here| here.trained_ms < model.trained_ms) {
                into.save_model(&model)?;
                self.report.models += 1;
                self.changed.insert(key.to_owned());
            }
        }
        Ok(())
    }
}

impl Depository {
    /// Merges another depository into this one, see [`Merge`].
    ///
    /// # Errors
    /// As [`Merge::open`] and [`Merge::step`].
    pub fn merge(&mut self, from: &Path) -> Result<MergeReport, StoreError> {
        let mut merge = Merge::open(from)?;
        loop {
            if let Some(report) = merge.step(self, Duration::MAX)? {
                return Ok(report);
            }
        }
    }

    fn has(&self, application_id: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM run WHERE application_id = ?1")
            .and_then(|mut statement| statement.exists([application_id]))
            .map_err(|error| self.failed(&format!("look for run {application_id}"), error))
    }
}
