//! Depositories to write to.

use std::path::Path;

use elastane_store::{Access, Depository};

use crate::failure::Failure;

/// Opens a depository to write to, or creates it. A damaged one is an error and stays as it is.
///
/// # Errors
/// The file is no depository, or cannot be opened or created.
pub fn open_or_create(path: &Path) -> Result<Depository, Failure> {
    Ok(match path.exists() {
        true => Depository::open_existing(path, Access::Write)?,
        false => Depository::open(path)?.depository,
    })
}
