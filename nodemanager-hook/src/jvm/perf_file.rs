//! The open file of counters of a running JVM.

use std::{fs::File, io, os::unix::fs::FileExt};

use super::{
    job_files::JobDirectory,
    mappings::MappedFile,
    perf_data::{self, PerfData, PerfDataError},
    process_handle::{ProcessHandle, ProcessStatus},
};
use crate::sensors::{HeldHeap, is_gone};

/// HotSpot's default is 32 KiB; `-XX:PerfDataMemorySize` can raise it.
const MOST_BYTES: usize = 256 * 1024;

/// The job owns the file, so it may hold anything and may shrink.
#[derive(Debug)]
pub struct PerfFile {
    file: File,
    data: PerfData,
}

impl PerfFile {
    /// Opens the file that a JVM has mapped; `None` if its root does not show the file or now shows
    /// another file.
    pub fn open(
        process: &ProcessHandle,
        status: ProcessStatus,
        mapped: &MappedFile,
    ) -> io::Result<Option<Self>> {
        let directory =
            JobDirectory::tmp(process, status).and_then(|tmp| tmp.below(&mapped.directory));
        let name = status.inner_pid.to_string();
        let (file, stat) = match directory.and_then(|one| one.open_regular(&name)) {
            Err(error) if is_gone(&error) => return Ok(None),
            opened => opened?,
        };
        if stat.st_ino != mapped.inode {
            return Ok(None);
        }
        let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
        if size > MOST_BYTES {
            let reason = format!("{size} bytes, at most {MOST_BYTES} are allowed");
            return Err(io::Error::other(reason));
        }
        let file = File::from(file);
        let data = perf_data::parse(&begin_of(&file, MOST_BYTES)?).map_err(io::Error::other)?;
        Ok(Some(Self { file, data }))
    }

    #[cfg(test)]
    pub fn recorded(path: &std::path::Path) -> Self {
        let file = File::open(path).unwrap();
        let data = perf_data::parse(&begin_of(&file, MOST_BYTES).unwrap()).unwrap();
        Self { file, data }
    }

    pub fn data(&self) -> &PerfData {
        &self.data
    }

    /// The heap now. The names are read again only if the JVM has added counters.
    pub fn heap(&mut self) -> io::Result<HeldHeap> {
        let needed = self.data.needed_bytes().min(MOST_BYTES);
        let mut heap = self.data.heap(&begin_of(&self.file, needed)?);
        if heap == Err(PerfDataError::Changed) {
            let whole = begin_of(&self.file, MOST_BYTES)?;
            self.data = perf_data::parse(&whole).map_err(io::Error::other)?;
            heap = self.data.heap(&whole);
        }
        heap.map_err(io::Error::other)
    }
}

/// The file up to a length; it may be shorter. Nothing of it is kept between two looks, since a node may have hundreds of JVMs.
fn begin_of(file: &File, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let length = file.read_at(&mut buffer, 0)?;
    buffer.truncate(length);
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process};

    use nix::unistd::geteuid;

    use super::*;

    /// Opens a file of this process, which stands for a JVM.
    fn opened(bytes: &[u8], uid: u32, inode: Option<u64>) -> io::Result<bool> {
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
        let error = opened(b"no counters", uid, None).unwrap_err().to_string();
        assert!(error.starts_with("11 bytes: the header alone has"), "{error}");
        assert!(!opened(b"no counters", uid, Some(1)).unwrap());
    }

    #[test]
    fn a_file_of_another_user_or_too_large_is_refused() {
        if !geteuid().is_root() {
            return; // The files of others cannot be reached.
        }
        let uid = geteuid().as_raw();
        let error = opened(b"", uid + 1, None).unwrap_err().to_string();
        assert!(error.contains(&format!("belongs to uid {uid}, not")), "{error}");
        let error = opened(&vec![0; MOST_BYTES + 1], uid, None).unwrap_err();
        let message = error.to_string();
        assert!(message.ends_with("262145 bytes, at most 262144 are allowed"), "{error}");
    }
}
