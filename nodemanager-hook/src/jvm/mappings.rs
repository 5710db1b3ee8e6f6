//! Whether a process is a HotSpot JVM, by the files that it has mapped.
//!
//! Catching SIGQUIT proves nothing: SIGQUIT ends other programs. A file with the right name may
//! be left from an earlier process with the same pid.

use std::io::{self, BufRead, BufReader, Read};

use super::process_handle::{ProcessHandle, ProcessStatus};

/// The agent reads at most this much of a list of mappings.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
const LIBRARY: &str = "libjvm.so";
const DIRECTORY: &str = "hsperfdata_";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mappings {
    pub has_library: bool,
    pub perf_file: Option<MappedFile>,
}

/// The mapped file of counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// `hsperfdata_USER`, without a slash.
    pub directory: String,
    pub inode: u64,
}

/// Whether a process is a JVM.
pub(crate) fn is_jvm(process: &ProcessHandle, status: ProcessStatus) -> io::Result<bool> {
    Ok(read(process, status.inner_pid)?.has_library)
}

pub fn read(process: &ProcessHandle, inner_pid: u32) -> io::Result<Mappings> {
    let maps = process.open_file("maps")?;
    scan(BufReader::new(maps.take(MOST_BYTES)), inner_pid)
}

pub(crate) fn scan(mut maps: impl BufRead, inner_pid: u32) -> io::Result<Mappings> {
    let name = inner_pid.to_string();
    let mut found = Mappings::default();
    let mut line = Vec::new();
    while maps.read_until(b'\n', &mut line)? > 0 {
        // `from-to rwxp offset dev inode   path`; the path may hold any bytes.
        let text = String::from_utf8_lossy(&line);
        if let Some((mapping, path)) = text.trim_end().split_once('/') {
            let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
            // A JDK may be replaced while its JVMs run.
            found.has_library |= file.trim_end_matches(" (deleted)") == LIBRARY;
            let directory = directory.rsplit('/').next().unwrap_or_default();
            if file == name && directory.starts_with(DIRECTORY) {
                let inode = mapping.split_ascii_whitespace().nth(4);
                found.perf_file = inode.and_then(|inode| {
                    Some(MappedFile { directory: directory.into(), inode: inode.parse().ok()? })
                });
            }
        }
        line.clear();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(maps: &str) -> Mappings {
        scan(maps.as_bytes(), 23).unwrap()
    }

    #[test]
    fn a_jvm_has_its_library_and_its_own_file_mapped() {
        let maps = "7f00-7f10 r-xp 00251000 fe:00 315152    /opt/jdk 17/lib/server/libjvm.so\n\
                    7f20-7f28 rw-s 00000000 fe:00 9986049   /tmp/hsperfdata_some one/23\n\
                    7f30-7f38 rw-p 00000000 00:00 0 \n";
        let perf_file =
            Some(MappedFile { directory: "hsperfdata_some one".into(), inode: 9_986_049 });
        assert_eq!(scanned(maps), Mappings { has_library: true, perf_file });
        let replaced = scanned("7f00-7f10 r-xp 0 fe:00 1 /opt/lib/libjvm.so (deleted)\n");
        assert!(replaced.has_library);
    }

    #[test]
    fn similar_paths_are_not_taken() {
        for path in [
            "/opt/libjvm.so.txt",
            "/opt/libjvm.so/x",
            "/tmp/hsperfdata_u/24",
            "/tmp/hsperfdata_u/23 (deleted)",
            "/tmp/hsperfdata_u/x/23",
            "libjvm.so",
        ] {
            let maps = format!("7f00-7f10 r-xp 0 fe:00 1 {path}\n");
            assert_eq!(scanned(&maps), Mappings::default(), "{path}");
        }
    }
}
