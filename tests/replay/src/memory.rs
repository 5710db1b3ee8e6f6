use std::fs;
use std::path::Path;

use memmap2::MmapMut;

use crate::error::ReplayError;

const CHUNK_BYTES: usize = 256 * 1024;
const PAGE_BYTES: usize = 4096;

/// Makes the process's resident memory as large as asked. Each chunk is a mapping of its own, so
/// that what is given back is free at once.
#[derive(Debug)]
pub(crate) struct Memory {
    chunks: Vec<MmapMut>,
    next_touched: usize,
    /// What the process takes without chunks.
    own_bytes: f64,
}

impl Memory {
    pub(crate) fn new() -> Result<Self, ReplayError> {
        Ok(Self { chunks: Vec::new(), next_touched: 0, own_bytes: resident_bytes()? })
    }

    /// Holds `bytes` with what the process takes itself, rounded down to whole chunks.
    pub(crate) fn hold(&mut self, bytes: f64) -> Result<(), ReplayError> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the series allows 0 to 1e15"
        )]
        let wanted = (bytes - self.own_bytes).max(0.0) as usize / CHUNK_BYTES;
        self.chunks.truncate(wanted);
        while self.chunks.len() < wanted {
            let mut chunk = MmapMut::map_anon(CHUNK_BYTES)
                .map_err(|cause| ReplayError::Memory { bytes: CHUNK_BYTES, cause })?;
            touch(&mut chunk);
            self.chunks.push(chunk);
        }
        Ok(())
    }

    /// Writes to one chunk of those that are held, in turn: memory in use, not only allocated.
    pub(crate) fn use_some(&mut self) {
        if !self.chunks.is_empty() {
            self.next_touched = (self.next_touched + 1) % self.chunks.len();
            touch(&mut self.chunks[self.next_touched]);
        }
    }
}

fn resident_bytes() -> Result<f64, ReplayError> {
    let file = Path::new("/proc/self/statm");
    let statm = fs::read_to_string(file).map_err(ReplayError::file(file))?;
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    Ok(pages.unwrap_or(0.0) * PAGE_BYTES as f64)
}

fn touch(chunk: &mut MmapMut) {
    for page in chunk.chunks_mut(PAGE_BYTES) {
        page[0] = page[0].wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// In a process of its own: other tests make this one larger.
    #[test]
    fn the_process_is_as_large_as_is_asked_for_and_gives_back() {
        let alone = ["--exact", "--ignored", "memory::tests::holds_and_gives_back"];
        let done = Command::new(std::env::current_exe().unwrap()).args(alone).output().unwrap();
        let told = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && told.contains("1 passed"), "{told}");
    }

    #[test]
    #[ignore = "the test above starts it"]
    fn holds_and_gives_back() {
        let mut memory = Memory::new().unwrap();
        memory.hold(64e6).unwrap();
        let held = resident_bytes().unwrap();
        assert!((63e6..70e6).contains(&held), "{held}");
        memory.use_some();
        memory.hold(16e6).unwrap();
        let left = resident_bytes().unwrap();
        assert!(left < 22e6, "{left}");
    }
}
