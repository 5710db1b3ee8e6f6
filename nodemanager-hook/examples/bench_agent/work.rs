//! What the processes of a busy container do.

use std::{fs::File, os::unix::fs::FileExt, path::Path, process, thread, time::Duration};

use crate::support::Outcome;

/// The argument with which this program works instead of measuring.
pub const WORK: &str = "work";
const MEMORY_BYTES: usize = 4 << 20;
const PAGE_BYTES: usize = 4096;
const WRITTEN_BYTES: usize = 64 << 10;
const EVERY: Duration = Duration::from_secs(1);

/// The command line of a process that works with a file in a folder.
pub fn command(program: &Path, folder: &Path) -> String {
    format!("{} {WORK} {}", program.display(), folder.display())
}

/// Longer than any measurement, for the case that nobody is left to end it.
const SECONDS: u32 = 600;

/// Holds memory, and each second touches all of it and writes to the disk.
pub fn work(folder: &Path) -> Outcome<()> {
    let file = File::create(folder.join(process::id().to_string()))?;
    let mut held = vec![0_u8; MEMORY_BYTES];
    for _ in 0..SECONDS {
        held.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = byte.wrapping_add(1));
        file.write_all_at(&held[..WRITTEN_BYTES], 0)?;
        file.sync_data()?;
        thread::sleep(EVERY);
    }
    Ok(())
}
