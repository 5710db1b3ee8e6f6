//! Arbitrary content of kernel files is read or refused, without a panic.
#![no_main]

use std::sync::OnceLock;

use elastane_agent::fuzzing::FakeKernelFiles;
use libfuzzer_sys::fuzz_target;

static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
static FILES: OnceLock<FakeKernelFiles<'static>> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| {
        // In memory: the files are written a thousand times a second.
        tempfile::tempdir_in("/dev/shm").expect("a folder in /dev/shm")
    });
    let files = FILES.get_or_init(|| FakeKernelFiles::make(folder.path()).expect("files in it"));
    files.read(bytes);
});
