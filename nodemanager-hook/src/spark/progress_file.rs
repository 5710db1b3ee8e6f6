//! The file in which an executor tells how far its application has come. Elastane's plugin for Spark writes it; other frameworks
//! may do so too.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime},
};

use elastane_protocol::StageProgress;
use serde::Deserialize;

use crate::{
    jvm::{JobDirectory, ProcessHandle},
    sensors::{ProcessKey, is_gone},
};

/// In the container's working directory.
const NAME: &str = "elastane.progress";
const MOST_BYTES: u64 = 4096;
/// The version of the file that is read.
const VERSION: u32 = 1;
/// An older file is of a plugin that has ended. It is written every 3 s.
const STALE_FROM: Duration = Duration::from_secs(30);

/// The file's directory.
#[derive(Debug)]
pub struct ProgressFile {
    directory: JobDirectory,
}

/// What a file says, and how long ago it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToldProgress {
    /// As of the writing.
    pub stages: StageProgress,
    pub age: Duration,
}

#[derive(Deserialize)]
struct InFile {
    version: u32,
    stages_ended: u32,
    since_ms: u64,
    part_ended: f32,
    part_begun: f32,
}

impl ProgressFile {
    /// Of the container that began with this process.
    pub fn of(proc: &Path, root: ProcessKey) -> io::Result<Self> {
        let process = ProcessHandle::open(proc, root.pid)?;
        if process.key() != root {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        Ok(Self { directory: JobDirectory::working(&process, process.status()?)? })
    }

    /// None without a file, and if it is old.
    pub fn read(&self, now: SystemTime) -> io::Result<Option<ToldProgress>> {
        let (file, _) = match self.directory.open_regular(NAME) {
            Err(error) if is_gone(&error) => return Ok(None),
            opened => opened?,
        };
        let file = File::from(file);
        let metadata = file.metadata()?;
        if metadata.len() > MOST_BYTES {
            let bytes = metadata.len();
            let reason = format!("{NAME} has {bytes} bytes, at most {MOST_BYTES} are read");
            return Err(io::Error::other(reason));
        }
        // A clock that was set back makes it new.
        let age = now.duration_since(metadata.modified()?).unwrap_or_default();
        if age >= STALE_FROM {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let refused = |reason| io::Error::other(format!("{NAME}: {reason}"));
        Ok(Some(ToldProgress { stages: parse(&bytes).map_err(refused)?, age }))
    }
}

pub(crate) fn parse(bytes: &[u8]) -> Result<StageProgress, String> {
    let read: InFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if read.version != VERSION {
        return Err(format!("version: {}, {VERSION} is read", read.version));
    }
    for (name, part) in [("part_ended", read.part_ended), ("part_begun", read.part_begun)] {
        if !(0.0..=1.0).contains(&part) {
            return Err(format!("{name}: {part}, 0 to 1 is allowed"));
        }
    }
    Ok(StageProgress {
        stages_ended: read.stages_ended,
        since_ms: u32::try_from(read.since_ms).unwrap_or(u32::MAX),
        part_ended: read.part_ended,
        part_begun: read.part_begun,
    })
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{chown, symlink},
        process::{Child, Command},
    };

    use nix::{
        sys::stat::Mode,
        unistd::{geteuid, mkfifo},
    };
    use proptest::prelude::*;

    use super::*;

    const TOLD: &str =
        r#"{"version":1,"stages_ended":12,"since_ms":4312,"part_ended":0.5,"part_begun":0.75}"#;

    struct Job {
        child: Child,
        folder: tempfile::TempDir,
    }

    impl Job {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut sleep = Command::new("sleep");
            let child = sleep.arg("600").current_dir(folder.path()).spawn().unwrap();
            Self { child, folder }
        }

        fn path(&self) -> std::path::PathBuf {
            self.folder.path().join(NAME)
        }

        fn file(&self) -> ProgressFile {
            let proc = Path::new("/proc");
            let key = ProcessHandle::open(proc, self.child.id()).unwrap().key();
            ProgressFile::of(proc, key).unwrap()
        }

        fn error(&self) -> String {
            self.file().read(SystemTime::now()).unwrap_err().to_string()
        }
    }

    impl Drop for Job {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    fn what_the_file_says_is_told_with_its_age() {
        let job = Job::new();
        assert_eq!(job.file().read(SystemTime::now()).unwrap(), None, "no file");
        fs::write(job.path(), TOLD).unwrap();
        let written = fs::metadata(job.path()).unwrap().modified().unwrap();
        let told = job.file().read(written + Duration::from_secs(2)).unwrap().unwrap();
        assert_eq!(told.age, Duration::from_secs(2));
        let stages =
            StageProgress { stages_ended: 12, since_ms: 4_312, part_ended: 0.5, part_begun: 0.75 };
        assert_eq!(told.stages, stages);
    }

    #[test]
    fn a_file_that_is_no_longer_written_says_nothing() {
        let job = Job::new();
        fs::write(job.path(), TOLD).unwrap();
        let written = fs::metadata(job.path()).unwrap().modified().unwrap();
        assert_eq!(job.file().read(written + STALE_FROM).unwrap(), None);
        assert!(job.file().read(written - STALE_FROM).unwrap().is_some(), "a clock set back");
    }

    #[test]
    fn nothing_but_a_small_regular_file_of_the_job_is_read() {
        let job = Job::new();
        fs::write(job.path(), vec![b' '; MOST_BYTES as usize + 1]).unwrap();
        assert_eq!(job.error(), "elastane.progress has 4097 bytes, at most 4096 are read");
        fs::remove_file(job.path()).unwrap();
        let no_file = "its working directory/elastane.progress is a link, or is not a regular file";
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        fs::write(elsewhere.path(), TOLD).unwrap();
        symlink(elsewhere.path(), job.path()).unwrap();
        assert_eq!(job.error(), no_file);
        fs::remove_file(job.path()).unwrap();
        mkfifo(&job.path(), Mode::S_IRWXU).unwrap();
        assert_eq!(job.error(), no_file);
        fs::remove_file(job.path()).unwrap();
        if geteuid().is_root() {
            fs::write(job.path(), TOLD).unwrap();
            chown(job.path(), Some(65534), None).unwrap();
            let owner =
                "its working directory/elastane.progress belongs to uid 65534, not to uid 0";
            assert_eq!(job.error(), owner);
        }
    }

    #[test]
    fn a_file_of_another_form_is_named_with_what_is_allowed() {
        let refused = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert_eq!(refused(&TOLD.replace(":1,", ":2,")), "version: 2, 1 is read");
        assert_eq!(refused(&TOLD.replace("0.75", "1.5")), "part_begun: 1.5, 0 to 1 is allowed");
        assert!(refused("").starts_with("EOF"));
        assert!(refused(&TOLD.replace("12", "-1")).contains("invalid value"));
        let long_ago = parse(TOLD.replace("4312", "99999999999").as_bytes()).unwrap();
        assert_eq!(long_ago.since_ms, u32::MAX);
    }

    #[test]
    fn the_file_of_another_process_with_the_same_pid_is_not_read() {
        let job = Job::new();
        let key = ProcessKey { pid: job.child.id(), start_ticks: 1 };
        assert!(is_gone(&ProgressFile::of(Path::new("/proc"), key).unwrap_err()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(stages) = parse(&bytes) {
                prop_assert!((0.0..=1.0).contains(&stages.part_ended));
            }
        }
    }
}
