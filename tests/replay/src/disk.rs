use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memmap2::MmapMut;
use nix::fcntl::OFlag;

use crate::error::ReplayError;

/// `O_DIRECT` wants whole blocks in memory that begins at a block's border.
const BLOCK_BYTES: u64 = 4096;
/// The most in one call.
const CALL_BYTES: u64 = 256 * 1024;

/// Reads and writes a file past the page cache, at places that follow each other.
#[derive(Debug)]
pub(crate) struct Disk {
    file: File,
    path: PathBuf,
    length: u64,
    write_share: f64,
    position: u64,
    to_read: f64,
    to_write: f64,
    buffer: MmapMut,
}

impl Disk {
    /// The file must have 256 KiB at least; it is never made longer.
    pub(crate) fn open(path: &Path, write_share: f64) -> Result<Self, ReplayError> {
        if !(0.0..=1.0).contains(&write_share) {
            let place = "--write-share".to_owned();
            return Err(ReplayError::OutOfRange { place, value: write_share, allowed: "0 to 1" });
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_DIRECT.bits())
            .open(path)
            .map_err(ReplayError::file(path))?;
        let length =
            file.metadata().map_err(ReplayError::file(path))?.len() / CALL_BYTES * CALL_BYTES;
        if length == 0 {
            let place = format!("{}: length in bytes", path.display());
            return Err(ReplayError::OutOfRange { place, value: 0.0, allowed: "262144 or more" });
        }
        #[expect(clippy::cast_possible_truncation, reason = "256 KiB")]
        let buffer = MmapMut::map_anon(CALL_BYTES as usize)
            .map_err(|cause| ReplayError::Memory { bytes: CALL_BYTES as usize, cause })?;
        // Executors that begin at one place would find each other's blocks in the device's cache.
        let position = u64::from(std::process::id()) * 7919 * CALL_BYTES % length;
        Ok(Self {
            file,
            path: path.to_owned(),
            length,
            write_share,
            position,
            to_read: 0.0,
            to_write: 0.0,
            buffer,
        })
    }

    /// Moves `bytes` in all, in whole blocks; what is left over is done with the next call.
    pub(crate) fn transfer(&mut self, bytes: f64) -> Result<(), ReplayError> {
        self.to_read += bytes * (1.0 - self.write_share);
        self.to_write += bytes * self.write_share;
        while self.to_read >= BLOCK_BYTES as f64 {
            let (place, length) = self.next(self.to_read);
            self.file
                .read_exact_at(&mut self.buffer[..length], place)
                .map_err(ReplayError::file(&self.path))?;
            self.to_read -= length as f64;
        }
        while self.to_write >= BLOCK_BYTES as f64 {
            let (place, length) = self.next(self.to_write);
            self.file
                .write_all_at(&self.buffer[..length], place)
                .map_err(ReplayError::file(&self.path))?;
            self.to_write -= length as f64;
        }
        Ok(())
    }

    /// Place and length of the next call, at most `bytes` and not beyond the end of the file.
    fn next(&mut self, bytes: f64) -> (u64, usize) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 256 KiB, at least a block"
        )]
        let wanted = bytes.min(CALL_BYTES as f64) as u64 / BLOCK_BYTES * BLOCK_BYTES;
        let length = wanted.min(self.length - self.position);
        let place = self.position;
        self.position = (self.position + length) % self.length;
        #[expect(clippy::cast_possible_truncation, reason = "at most 256 KiB")]
        (place, length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io_bytes(key: &str) -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn reads_and_writes_what_is_asked_for_and_remembers_less_than_a_block() {
        // The checkout's file system: a tmpfs has no O_DIRECT.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, vec![1_u8; 1024 * 1024]).unwrap();
        let mut disk = Disk::open(&file, 0.25).unwrap();
        let (read, written) = (io_bytes("rchar"), io_bytes("wchar"));
        for _ in 0..1000 {
            disk.transfer(3000.0).unwrap();
        }
        let (read, written) = (io_bytes("rchar") - read, io_bytes("wchar") - written);
        assert!((2_240_000..2_256_000).contains(&read), "{read}");
        assert!((744_000..=750_000).contains(&written), "{written}");
    }

    #[test]
    fn an_empty_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, "short").unwrap();
        assert!(Disk::open(&file, 0.0).is_err());
    }
}
