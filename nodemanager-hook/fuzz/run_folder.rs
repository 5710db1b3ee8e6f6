//! The folder of a fuzz target's process.

use std::fs;
use std::path::{Path, PathBuf};

const PREFIX: &str = "elastane-fuzz-";

/// Makes `elastane-fuzz-PID`. A fuzz target's process ends without destructors, so the folders of processes that ended
/// are removed here.
pub fn run_folder(parent: &Path) -> PathBuf {
    for entry in fs::read_dir(parent).expect("a folder that can be listed").flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
    // Left by an earlier process with this number, perhaps.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a new folder");
    folder
}
