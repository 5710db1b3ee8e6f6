//! A depository elsewhere, while there is no room where it belongs.

use std::env;
use std::path::Path;
use std::process;

use elastane_store::{Access, Depository, Opened, StoreError};

/// Opens the depository. Where its disk is full, a new one among the temporary files takes its
/// place until the next start, with what the full one still tells.
///
/// # Errors
/// As [`Depository::open`]; where the disk of the temporary files is full as well, the first error.
pub(crate) fn open(path: &Path) -> Result<Opened, StoreError> {
    match Depository::open(path) {
        Err(full @ StoreError::Full { .. }) => {
            let name = format!("elastane-depository-{}.sqlite", process::id());
            let elsewhere = env::temp_dir().join(name);
            let Ok(mut opened) = Depository::open(&elsewhere) else {
                return Err(full);
            };
            log::error!(
                "{full}; until the next start what is learned is kept in {}",
                elsewhere.display()
            );
            match take_over(&mut opened.depository, path) {
                Ok(runs) => log::info!("{runs} runs are known from {}", path.display()),
                Err(error) => log::error!("nothing is known of earlier runs: {error}"),
            }
            Ok(opened)
        }
        opened => opened,
    }
}

fn take_over(depository: &mut Depository, path: &Path) -> Result<usize, StoreError> {
    drop(Depository::open_existing(path, Access::Read)?);
    Ok(depository.merge(path)?.added)
}
