//! The audit file and its bound.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::own_file::{beside, private_options};

/// The size at which the file is renamed to `FILE.1`.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    max_bytes: u64,
}

impl AuditFile {
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::with_bound(path, MAX_BYTES)
    }

    fn with_bound(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let file = private_options().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.into(), file, bytes, max_bytes })
    }

    /// Appends whole lines.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let length = lines.len() as u64;
        if self.bytes + length > self.max_bytes {
            match fs::rename(&self.path, beside(&self.path, ".1")) {
                // Renamed before, when no new file could be made.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            *self = Self::with_bound(&self.path, self.max_bytes)?;
        }
        self.file.write_all(lines)?;
        self.bytes += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_file_is_bounded_and_one_old_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let mut file = AuditFile::with_bound(&path, 1000).unwrap();
        for _ in 0..50 {
            file.append(&[b'a'; 90]).unwrap();
        }
        let old = directory.path().join("audit.jsonl.1");
        for file in [&path, &old] {
            let found = fs::metadata(file).unwrap();
            assert!(found.len() > 0 && found.len() <= 1000, "{found:?}");
            assert_eq!(found.mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_could_not_be_made_is_made_later() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("audit.jsonl");
        let mut file = AuditFile::with_bound(&path, 10).unwrap();
        file.append(b"12345678\n").unwrap();
        let elsewhere = directory.path().join("elsewhere");
        fs::rename(&folder, &elsewhere).unwrap();
        assert!(file.append(b"next\n").is_err());
        fs::create_dir(&folder).unwrap();
        file.append(b"last\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "last\n");
    }
}
