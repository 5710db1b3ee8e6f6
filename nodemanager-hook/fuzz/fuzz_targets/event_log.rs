//! An arbitrary file is read as a Spark event log or refused, without a panic. A run that is read has
//! only amounts that a profile can be made of.
#![no_main]

#[path = "../run_folder.rs"]
mod run_folder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elastane_eventlog::{Found, ImportOptions, find, read};
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| {
        // In memory: the file is written hundreds of times a second.
        run_folder(Path::new("/dev/shm"))
    });
    let path = folder.join("application_1_0001");
    fs::write(&path, bytes).expect("a file in /dev/shm");
    for found in find(&path).expect("the file is there") {
        let Found::Log(log) = found else { continue };
        let Ok(imported) = read(&log, &ImportOptions::default()) else { continue };
        for series in &imported.run.series {
            for amount in series.slots.iter().flat_map(|slot| slot.to_array()) {
                assert!(amount.is_finite() && amount >= 0.0, "{amount}");
            }
        }
    }
});
