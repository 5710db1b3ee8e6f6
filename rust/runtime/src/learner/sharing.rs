//! A depository that several ResourceManagers share by copies.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};

use elastane_store::{MergeReport, StoreError};

use super::keeper::Keeper;
use super::{Learner, Work};

/// A copy to be made or taken over, and who waits for it.
pub(super) enum Share {
    Copy(PathBuf, Sender<Result<(), StoreError>>),
    TakeOver(PathBuf, Sender<Result<MergeReport, StoreError>>),
}

/// Why nothing was copied or taken over.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The depository or the copy; with its path.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It panicked, or the core is closing.
    #[error("the learner's thread is gone")]
    ThreadGone,
}

impl Learner {
    /// Writes all that is known into another file, and waits for that.
    pub(crate) fn copy_to(&self, file: &Path) -> Result<(), SharingError> {
        self.wait_for(|done| Share::Copy(file.to_owned(), done))
    }

    /// Takes over what another file has and this depository has not, and waits for that. The
    /// profiles that change by it are made afterwards.
    pub(crate) fn take_over(&self, file: &Path) -> Result<MergeReport, SharingError> {
        self.wait_for(|done| Share::TakeOver(file.to_owned(), done))
    }

    fn wait_for<T>(
        &self,
        share: impl FnOnce(Sender<Result<T, StoreError>>) -> Share,
    ) -> Result<T, SharingError> {
        let (done, result) = channel();
        self.send(Work::Share(share(done)));
        Ok(result.recv().map_err(|_| SharingError::ThreadGone)??)
    }
}

impl Keeper {
    /// Does it; gives the applications whose profiles are to be made anew.
    pub(super) fn share(&mut self, share: Share) -> Vec<String> {
        match share {
            // Whoever waited may be gone; then nobody wants to know.
            Share::Copy(file, done) => {
                let _ = done.send(self.depository.snapshot(&file));
                Vec::new()
            }
            Share::TakeOver(file, done) => {
                let (report, changed) = self.take_over(&file);
                let _ = done.send(report);
                changed
            }
        }
    }

    /// What was taken over before an error stays, so that what changed is told with one as well.
    fn take_over(&mut self, file: &Path) -> (Result<MergeReport, StoreError>, Vec<String>) {
        let before = match self.run_counts() {
            Ok(before) => before,
            Err(error) => return (Err(error), Vec::new()),
        };
        let report = self.depository.adopt(file);
        let after = match self.run_counts() {
            Ok(after) => after,
            Err(error) => return (report.and(Err(error)), Vec::new()),
        };
        let mut changed: Vec<String> = after
            .into_iter()
            .filter(|(key, runs)| before.get(key) != Some(runs))
            .map(|(key, _)| key)
            .collect();
        changed.sort_unstable();
        (report, changed)
    }

    fn run_counts(&self) -> Result<HashMap<String, usize>, StoreError> {
        let applications = self.depository.applications()?;
        Ok(applications
            .into_iter()
            .map(|it| (it.key, it.runs))
            .collect())
    }
}
