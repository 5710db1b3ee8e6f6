//! The open file of counters of a running JVM.

use std::{fs::File, io, os::unix::fs::FileExt};

use super::{
    job_files::JobTmp,
    mappings::MappedFile,
    perf_data::{self, PerfData, PerfDataError},
    process_handle::{ProcessHandle, ProcessStatus},
};
use crate::sensors::{HeldHeap, is_gone};

/// HotSpot's default is 32 KiB; `-XX:PerfDataMemorySize` can raise it.
const MOST_BYTES: usize = 1024 * 1024;

/// Why a JVM's counters cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PerfFileError {
    #[error("counters of pid {pid}: {source}")]
    Data { pid: u32, source: PerfDataError },
    #[error("counters of pid {pid}: {source}")]
    Read { pid: u32, source: io::Error },
}

/// The job owns the file, so it may hold anything and may shrink.
#[derive(Debug)]
pub struct PerfFile {
    pid: u32,
    file: File,
    data: PerfData,
    buffer: Vec<u8>,
}

impl PerfFile {
    /// Opens the file that a JVM has mapped; `None` if its root does not show the file or now shows
    /// another file.
    pub fn open(
        process: &ProcessHandle,
        status: ProcessStatus,
        mapped: &MappedFile,
    ) -> Result<Option<Self>, PerfFileError> {
        let pid = process.pid();
        let (file, size) = match open(process, status, mapped) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(None),
            Err(error) if is_gone(&error) => return Ok(None),
            Err(source) => return Err(PerfFileError::Read { pid, source }),
        };
        let mut buffer = vec![0; size];
        let data = parse_file(pid, &file, &mut buffer)?;
        Ok(Some(Self { pid, file, data, buffer }))
    }

    pub fn data(&self) -> &PerfData {
        &self.data
    }

    /// The heap now. The names are read again only if the JVM has added counters.
    pub fn heap(&mut self) -> Result<HeldHeap, PerfFileError> {
        let pid = self.pid;
        let needed = self.data.needed_bytes().min(self.buffer.len());
        let bytes = read_start(pid, &self.file, &mut self.buffer[..needed])?;
        let mut heap = self.data.heap(bytes);
        if heap == Err(PerfDataError::Changed) {
            self.data = parse_file(pid, &self.file, &mut self.buffer)?;
            heap = self.data.heap(&self.buffer);
        }
        heap.map_err(|source| PerfFileError::Data { pid, source })
    }
}

/// The file and its size; `None` if it is not the mapped file.
fn open(
    process: &ProcessHandle,
    status: ProcessStatus,
    mapped: &MappedFile,
) -> io::Result<Option<(File, usize)>> {
    let directory = JobTmp::open(process)?.below(&mapped.directory)?;
    let (file, stat) = directory.open_regular(&status.inner_pid.to_string(), status.uid)?;
    if stat.st_ino != mapped.inode {
        return Ok(None);
    }
    match usize::try_from(stat.st_size) {
        Ok(size @ ..=MOST_BYTES) => Ok(Some((file.into(), size))),
        _ => Err(io::Error::other(format!(
            "{} bytes, at most {MOST_BYTES} are allowed",
            stat.st_size
        ))),
    }
}

fn parse_file(pid: u32, file: &File, buffer: &mut [u8]) -> Result<PerfData, PerfFileError> {
    let bytes = read_start(pid, file, buffer)?;
    perf_data::parse(bytes).map_err(|source| PerfFileError::Data { pid, source })
}

/// Fills the buffer from the start of the file; returns less if the file is shorter.
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

    /// Opens a file of this process, which stands for a JVM.
    fn opened(bytes: &[u8], uid: u32, inode: Option<u64>) -> Result<bool, PerfFileError> {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").unwrap();
        let pid = process::id();
        let path = directory.path().join(pid.to_string());
        fs::write(&path, bytes).unwrap();
        let name = directory.path().file_name().unwrap().to_str().unwrap();
        let mapped = MappedFile {
            directory: name.into(),
            inode: inode.unwrap_or(fs::metadata(&path).unwrap().ino()),
        };
        let this = ProcessHandle::open(Path::new("/proc"), pid).unwrap();
        let status = ProcessStatus { uid, ..this.status().unwrap() };
        PerfFile::open(&this, status, &mapped).map(|file| file.is_some())
    }

    #[test]
    fn only_the_file_that_is_mapped_is_read() {
        let uid = geteuid().as_raw();
        let error = opened(b"no counters", uid, None).unwrap_err();
        assert!(matches!(error, PerfFileError::Data { .. }), "{error}");
        assert!(!opened(b"no counters", uid, Some(1)).unwrap());
    }

    #[test]
    fn a_file_of_another_user_or_too_large_is_refused() {
        let uid = geteuid().as_raw();
        let error = opened(b"", uid + 1, None).unwrap_err().to_string();
        assert!(error.contains(&format!("belongs to uid {uid}, not")), "{error}");
        let error = opened(&vec![0; MOST_BYTES + 1], uid, None).unwrap_err();
        let message = error.to_string();
        assert!(message.ends_with("1048577 bytes, at most 1048576 are allowed"), "{error}");
    }
}
