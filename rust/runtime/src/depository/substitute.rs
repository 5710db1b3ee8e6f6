//! A depository in the place of one that cannot be used: locked, of another schema, another user's, or
//! on a disk that fails.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{env, fs, io, process};

use elastane_runs::OpenRun;
use elastane_store::{Depository, Merge, StoreError, StoreErrorKind, with_suffix};

use super::profile_cache::MOST_PROFILES;
use crate::backoff::Backoff;
use crate::counters::{Counters, count};

/// A file and SQLite's log of it.
const PARTS: [&str; 2] = ["", "-wal"];
/// In one process.
const MOST_FOLDERS: u32 = 100;
/// A substitute without a file.
const MOST_IN_MEMORY_BYTES: u64 = 64 << 20;

/// An opened depository, and what is read from it first.
pub(crate) struct Found {
    pub(crate) depository: Depository,
    /// Where the depository is one.
    pub(crate) substitute: Option<Substitute>,
    /// The records of applications that an earlier process saw running.
    pub(crate) open_runs: Vec<OpenRun>,
    /// Every application that has runs; the one that ran last comes first.
    pub(crate) applications: Vec<String>,
}

/// Stands for the depository at `wanted` until that can be used.
pub(crate) struct Substitute {
    wanted: PathBuf,
    /// The folder of the substitute; none in memory.
    folder: Option<PathBuf>,
    backoff: Backoff,
}

/// What a substitute has learned, to be merged and then removed.
pub(super) struct Learned {
    pub(super) merge: Merge,
    /// A folder, or a file beside the depository.
    pub(super) place: PathBuf,
}

/// Opens the depository, or a substitute.
///
/// # Errors
/// Where not even a substitute in memory can be made.
pub(crate) fn open(path: &Path, counters: &Counters) -> Result<Found, StoreError> {
    match Found::open(path) {
        Ok(found) => Ok(found),
        Err(error) => {
            count(&counters.depository_failures);
            counters.depository_in_service.store(false, Relaxed);
            let (depository, folder) = match in_a_folder(&error) {
                Ok((depository, folder)) => (depository, Some(folder)),
                Err(_) => (Depository::in_memory(MOST_IN_MEMORY_BYTES)?, None),
            };
            let place = depository.path().display();
            log::error!(
                "{error}; scheduling goes on, what is learned is kept in {place}, and the depository \
                 is tried again at least every 60 s"
            );
            let backoff = Backoff::new(Instant::now());
            let substitute = Substitute { wanted: path.to_owned(), folder, backoff };
            Ok(Found { substitute: Some(substitute), ..Found::read(depository)? })
        }
    }
}

impl Found {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let opened = Depository::open_own(path)?;
        announce_moved(path, opened.moved_aside.as_deref());
        if let Some(mode) = opened.readable_by_others {
            let path = path.display();
            log::warn!("the depository {path} can be read by others than its owner: mode {mode:o}");
        }
        if let Some(version) = opened.newer_version {
            let path = path.display();
            log::warn!(
                "the depository {path} was made by a newer Elastane (schema version {version}), and is used as it is"
            );
        }
        Self::read(opened.depository)
    }

    pub(super) fn read(mut depository: Depository) -> Result<Self, StoreError> {
        let (open_runs, unreadable) = depository.open_runs()?;
        for error in unreadable {
            log::warn!("the record of a running application is dropped: {error}");
        }
        let applications = latest_applications(&depository)?;
        Ok(Self { depository, substitute: None, open_runs, applications })
    }
}

/// The applications whose profiles are kept in memory; the one that ran last comes first.
pub(super) fn latest_applications(depository: &Depository) -> Result<Vec<String>, StoreError> {
    let mut applications = depository.applications()?;
    applications.sort_by_key(|application| std::cmp::Reverse(application.latest_ms));
    Ok(applications.into_iter().take(MOST_PROFILES).map(|it| it.key).collect())
}

impl Substitute {
    /// The time until the depository is to be tried again.
    pub(super) fn wait(&self) -> Duration {
        self.backoff.left(Instant::now())
    }

    /// Opens the depository where that is due and works.
    pub(super) fn try_wanted(&mut self, counters: &Counters) -> Option<Found> {
        if !self.wait().is_zero() {
            return None;
        }
        match Found::open(&self.wanted) {
            Ok(found) => {
                counters.depository_in_service.store(true, Relaxed);
                log::warn!("the depository {} is used again", self.wanted.display());
                Some(found)
            }
            Err(error) => {
                count(&counters.depository_failures);
                log::debug!("still not used: {error}");
                self.backoff.failed(Instant::now());
                None
            }
        }
    }

    /// The process ends. What was learned stays, to be merged by an administrator.
    pub(super) fn end(self, depository: Depository) {
        let is_empty = depository.applications().is_ok_and(|it| it.is_empty());
        drop(depository);
        if let Some(folder) = self.folder.filter(|_| is_empty) {
            Learned::remove(&folder);
        }
    }

    /// Closes the substitute's depository.
    pub(super) fn into_learned(self, depository: Depository) -> Result<Learned, StoreError> {
        let (file, place) = match self.folder {
            Some(folder) => (depository.path().to_owned(), folder),
            None => {
                let file = with_suffix(&self.wanted, ".substitute");
                depository.snapshot(&file)?;
                (file.clone(), file)
            }
        };
        drop(depository);
        Ok(Learned { merge: Merge::open(&file)?, place })
    }
}

impl Learned {
    /// Everything is merged, or there is nothing.
    pub(super) fn remove(place: &Path) {
        let removed =
            if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) };
        if let Err(error) = removed {
            log::warn!("{} is not needed and cannot be removed: {error}", place.display());
        }
    }
}

/// A substitute among the temporary files. Where the disk fails, it begins as a copy: other files are
/// not to be read, or are read soon.
fn in_a_folder(error: &StoreError) -> io::Result<(Depository, PathBuf)> {
    let folder = own_folder()?;
    let file = folder.join("depository.sqlite");
    if let StoreErrorKind::Full(_) | StoreErrorKind::File(..) | StoreErrorKind::Sqlite(..) =
        error.kind
        && let Err(error) = copy(&error.path, &file)
    {
        let place = file.display();
        log::error!(
            "scheduling starts without earlier runs: the depository cannot be copied to {place}: \
             {error}"
        );
    }
    match Depository::open(&file) {
        Ok(opened) => Ok((opened.depository, folder)),
        Err(error) => {
            Learned::remove(&folder);
            Err(io::Error::other(error))
        }
    }
}

/// A new folder that no other user can read: the folder above is open to everybody.
fn own_folder() -> io::Result<PathBuf> {
    let name = |number| format!("elastane-{}-{number}", process::id());
    let mut folders = (0..MOST_FOLDERS).map(|number| env::temp_dir().join(name(number)));
    let made = folders.find_map(|folder| match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
        made => Some(made.map(|()| folder)),
    });
    made.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
}

pub(super) fn announce_moved(path: &Path, moved_aside: Option<&Path>) {
    if let Some(aside) = moved_aside {
        log::error!(
            "the depository {} was damaged and is now {}; learning begins anew",
            path.display(),
            aside.display()
        );
    }
}

/// All of it or nothing.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let parts = PARTS.map(|part| (with_suffix(from, part), with_suffix(to, part)));
    let mut there = parts.iter().filter(|(from, _)| from.exists());
    let copied = there.try_for_each(|(from, to)| fs::copy(from, to).map(drop));
    if copied.is_err() {
        for (_, to) in &parts {
            // The first error is the one to report.
            let _ = fs::remove_file(to);
        }
    }
    copied
}
