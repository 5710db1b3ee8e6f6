//! A depository among the temporary files, for a disk that is full at the start.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use elastane_store::{Depository, Opened, StoreError};

/// A file and SQLite's log of it.
const PARTS: [&str; 2] = ["", "-wal"];
/// In one process.
const MOST_FOLDERS: u32 = 100;

/// Opens the depository. Where its disk is full, a copy among the temporary files takes its place
/// until the next start; an empty depository where the copy has no room either.
///
/// # Errors
/// As [`Depository::open`]; where the disk of the temporary files is full as well, the first error.
pub(crate) fn open(path: &Path) -> Result<Opened, StoreError> {
    match Depository::open(path) {
        Err(full @ StoreError::Full { .. }) => {
            let Ok(folder) = own_folder() else {
                return Err(full);
            };
            let elsewhere = folder.join("depository.sqlite");
            let copied = copy(path, &elsewhere);
            let Ok(opened) = Depository::open(&elsewhere) else {
                return Err(full);
            };
            let place = elsewhere.display();
            log::error!("{full}; until the next start what is learned is kept in {place}");
            if let Err(error) = copied {
                log::error!("earlier runs are not known: cannot copy to {place}: {error}");
            }
            Ok(opened)
        }
        opened => opened,
    }
}

/// A new folder that no other user can read: the folder above is open to everybody.
fn own_folder() -> io::Result<PathBuf> {
    let name = |number| format!("elastane-{}-{number}", process::id());
    let mut folders = (0..MOST_FOLDERS).map(|number| env::temp_dir().join(name(number)));
    let made = folders.find_map(
        |folder| match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            made => Some(made.map(|()| folder)),
        },
    );
    made.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
}

/// All of it or nothing.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let parts = PARTS.map(|part| (with(from, part), with(to, part)));
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

fn with(path: &Path, part: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(part);
    name.into()
}
