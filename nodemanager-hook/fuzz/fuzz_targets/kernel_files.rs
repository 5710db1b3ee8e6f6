//! Arbitrary content of kernel files is read or refused, without a panic.
#![no_main]

#[path = "../run_folder.rs"]
mod run_folder;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elastane_agent::fuzzing::FakeKernelFiles;
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();
static FILES: OnceLock<FakeKernelFiles<'static>> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| {
        // In memory: the files are written a thousand times a second.
        run_folder(Path::new("/dev/shm"))
    });
    let files = FILES.get_or_init(|| FakeKernelFiles::make(folder).expect("files in it"));
    files.read(bytes);
});
