//! A depository among the temporary files, for a disk that is full at the start.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use elastane_store::{Depository, StoreError, StoreErrorKind, with_suffix};

/// A file and SQLite's log of it.
const PARTS: [&str; 2] = ["", "-wal"];
/// In one process.
const MOST_FOLDERS: u32 = 100;

/// Opens the depository. Where its disk is full, a copy among the temporary files takes its place
/// until the next start; an empty depository where the copy has no room either.
///
/// # Errors
/// As [`Depository::open`]; where the disk of the temporary files is full as well, the first error.
pub(crate) fn open(path: &Path) -> Result<Depository, StoreError> {
    let opened = match Depository::open(path) {
        Err(error) if matches!(error.kind, StoreErrorKind::Full(_)) => {
            let Ok(folder) = own_folder() else {
                return Err(error);
            };
            let elsewhere = folder.join("depository.sqlite");
            let copied = copy(path, &elsewhere);
            let Ok(opened) = Depository::open(&elsewhere) else {
                return Err(error);
            };
            let place = elsewhere.display();
            log::error!("{error}; until the next start what is learned is kept in {place}");
            if let Err(error) = copied {
                log::error!("earlier runs are not known: cannot copy to {place}: {error}");
            }
            opened
        }
        opened => opened?,
    };
    announce_moved(opened.depository.path(), opened.moved_aside.as_deref());
    Ok(opened.depository)
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
