//! The file of counters of a running JVM, held open.

use std::{fs::File, io, os::unix::fs::FileExt};

use super::{
    job_files::{JobFileError, JobTmp},
    mappings::MappedFile,
    perf_data::{self, Heap, PerfData, PerfDataError},
    process::Process,
};

/// HotSpot's own size is 32 KiB; `-XX:PerfDataMemorySize` can make it larger.
const MOST_BYTES: usize = 1024 * 1024;

/// A file of counters that cannot be used.
#[allow(missing_docs)] // the messages say it
#[derive(Debug, thiserror::Error)]
pub enum PerfFileError {
    #[error(transparent)]
    File(#[from] JobFileError),
    #[error("counters of pid {pid}: {source}")]
    Data { pid: u32, source: PerfDataError },
    #[error("counters of pid {pid}: {source}")]
    Read { pid: u32, source: io::Error },
    #[error("counters of pid {pid}: {bytes} bytes, allowed are {MOST_BYTES}")]
    Size { pid: u32, bytes: i64 },
}

/// The file is the job's: it may hold anything, and less than before.
#[derive(Debug)]
pub struct PerfFile {
    pid: u32,
    file: File,
    data: PerfData,
    buffer: Vec<u8>,
}

impl PerfFile {
    /// Opens the file that a JVM has mapped; nothing when it cannot be seen from its root, or is
    /// another file by now.
    ///
    /// # Errors
    /// A file that is not the user's own, or does not hold a JVM's counters.
    pub fn open(
        process: &Process,
        inner_pid: u32,
        uid: u32,
        mapped: &MappedFile,
    ) -> Result<Option<Self>, PerfFileError> {
        let Some(directory) = JobTmp::open(process)? else {
            return Ok(None);
        };
        let Some(directory) = directory.below(&mapped.directory)? else {
            return Ok(None);
        };
        let Some((file, stat)) = directory.open_regular(&inner_pid.to_string(), uid)? else {
            return Ok(None);
        };
        if stat.st_ino != mapped.inode {
            return Ok(None);
        }
        let pid = process.pid();
        let too_large = PerfFileError::Size {
            pid,
            bytes: stat.st_size,
        };
        let size = usize::try_from(stat.st_size).ok();
        let size = size.filter(|size| *size <= MOST_BYTES).ok_or(too_large)?;
        let (file, mut buffer) = (File::from(file), vec![0; size]);
        let data = parse_file(pid, &file, &mut buffer)?;
        Ok(Some(Self {
            pid,
            file,
            data,
            buffer,
        }))
    }

    pub fn data(&self) -> &PerfData {
        &self.data
    }

    /// The heap now. The names are read again only when the JVM has added counters.
    ///
    /// # Errors
    /// A file that cannot be read, or does not hold a JVM's counters any more.
    pub fn heap(&mut self) -> Result<Heap, PerfFileError> {
        let needed = self.data.needed_bytes().min(self.buffer.len());
        let bytes = read_start(self.pid, &self.file, &mut self.buffer[..needed])?;
        match self.data.heap(bytes) {
            Err(PerfDataError::Changed) => {
                self.data = parse_file(self.pid, &self.file, &mut self.buffer)?;
                self.data
                    .heap(&self.buffer)
                    .map_err(|source| self.data_error(source))
            }
            other => other.map_err(|source| self.data_error(source)),
        }
    }

    fn data_error(&self, source: PerfDataError) -> PerfFileError {
        PerfFileError::Data {
            pid: self.pid,
            source,
        }
    }
}

fn parse_file(pid: u32, file: &File, buffer: &mut [u8]) -> Result<PerfData, PerfFileError> {
    let bytes = read_start(pid, file, buffer)?;
    perf_data::parse(bytes).map_err(|source| PerfFileError::Data { pid, source })
}

/// Fills the buffer from the start of the file; less where the file is shorter.
fn read_start<'a>(pid: u32, file: &File, buffer: &'a mut [u8]) -> Result<&'a [u8], PerfFileError> {
    let mut length = 0;
    while length < buffer.len() {
        let at = u64::try_from(length).unwrap_or(u64::MAX);
        match file.read_at(&mut buffer[length..], at) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(PerfFileError::Read { pid, source }),
        }
    }
    Ok(&buffer[..length])
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process};

    use nix::unistd::geteuid;

    use super::*;

    /// What comes of a file of this process that stands for a JVM's.
    fn opened(bytes: &[u8], uid: u32, inode: Option<u64>) -> Result<bool, PerfFileError> {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::Builder::new()
            .prefix("hsperfdata_")
            .tempdir_in("/tmp")
            .unwrap();
        let pid = process::id();
        let path = directory.path().join(pid.to_string());
        fs::write(&path, bytes).unwrap();
        let name = directory.path().file_name().unwrap().to_str().unwrap();
        let mapped = MappedFile {
            directory: name.into(),
            inode: inode.unwrap_or(fs::metadata(&path).unwrap().ino()),
        };
        let this = Process::open(Path::new("/proc"), pid).unwrap().unwrap();
        PerfFile::open(&this, pid, uid, &mapped).map(|file| file.is_some())
    }

    #[test]
    fn only_the_file_that_is_mapped_is_read() {
        let uid = geteuid().as_raw();
        let error = opened(b"no counters", uid, None).unwrap_err();
        assert!(matches!(error, PerfFileError::Data { .. }), "{error}");
        assert!(!opened(b"no counters", uid, Some(1)).unwrap());
    }

    #[test]
    fn a_file_of_another_user_or_of_any_size_is_refused() {
        let uid = geteuid().as_raw();
        let error = opened(b"", uid + 1, None).unwrap_err().to_string();
        assert!(
            error.contains(&format!("belongs to uid {uid} and not")),
            "{error}"
        );
        let error = opened(&vec![0; MOST_BYTES + 1], uid, None).unwrap_err();
        assert!(matches!(error, PerfFileError::Size { .. }), "{error}");
    }
}
