//! Copies of a depository for another ResourceManager.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::depository::Depository;
use crate::error::StoreError;
use crate::open::with_suffix;
use crate::private_file::private_file_options;

impl Depository {
    /// Writes the content of one moment into another file, while the depository is in use. The file
    /// appears whole or not at all, and replaces an older one.
    ///
    /// # Errors
    /// The file system's, or what SQLite says; an older snapshot stays then.
    pub fn snapshot(&self, to: &Path) -> Result<(), StoreError> {
        let unfinished = with_suffix(to, ".new");
        let written = self.write_snapshot(to, &unfinished);
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn write_snapshot(&self, to: &Path, unfinished: &Path) -> Result<(), StoreError> {
        match fs::remove_file(unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::file(to, "remove an unfinished snapshot", error));
            }
            _ => {}
        }
        // SQLite gives a new file the mode that all can read; an empty one keeps its mode.
        private_file_options()
            .write(true)
            .open(unfinished)
            .map_err(|error| StoreError::file(to, "write a snapshot", error))?;
        self.connection
            .execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])
            .map_err(|error| StoreError::refused(to, "write a snapshot", error))?;
        File::open(unfinished)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(unfinished, to))
            .map_err(|error| StoreError::file(to, "put a snapshot in its place", error))
    }
}
