//! The one writer of kernel files.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    str::FromStr,
};

use nix::errno::Errno;

use super::{
    change_order::{LimitFiles, write_in_order},
    limit_file::{LimitFile, Value},
    limits::cpu::{CpuSurroundings, PERIOD, tightest_from},
};

/// A kernel file or group that could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct KernelFileError {
    action: String,
    path: PathBuf,
    source: io::Error,
}

/// A limit file of a group, and what it is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub group: PathBuf,
    pub file: LimitFile,
    pub value: Value,
}

/// Writes kernel files and remembers what the limits among them hold, so that nothing is written
/// twice.
#[derive(Debug, Default)]
pub struct KernelFiles {
    known: HashMap<PathBuf, Group>,
    /// What is around groups of version 1, until all changes of a moment are written: many
    /// containers have the same groups around them.
    tightest_cores: HashMap<PathBuf, Option<f64>>,
    /// Periods of groups in which nobody else writes.
    periods_us: HashMap<PathBuf, u64>,
}

/// A group that is limited.
#[derive(Debug, Default)]
struct Group {
    values: BTreeMap<LimitFile, Value>,
    /// The files that were written before, by their names: to find and open one takes longer than to
    /// write it.
    open: BTreeMap<&'static str, File>,
}

impl KernelFileError {
    pub fn new(action: impl Into<String>, path: &Path, source: io::Error) -> Self {
        Self {
            action: action.into(),
            path: path.into(),
            source,
        }
    }

    /// A file that does not hold what the kernel documents.
    pub fn unexpected(path: &Path, text: &str) -> Self {
        let reason = format!("`{}` is not as expected", text.trim().escape_default());
        let source = io::Error::new(io::ErrorKind::InvalidData, reason);
        Self::new("use", path, source)
    }

    /// Whether the group or the process is not there any more.
    pub fn is_gone(&self) -> bool {
        self.is(Errno::ENOENT) || self.is(Errno::ENODEV) || self.is(Errno::ESRCH)
    }

    /// Whether the kernel answered with this error.
    pub fn is(&self, errno: Errno) -> bool {
        self.errno() == errno
    }

    /// What the kernel answered; `UnknownErrno` where it was not the kernel that refused.
    pub fn errno(&self) -> Errno {
        Errno::from_raw(self.source.raw_os_error().unwrap_or_default())
    }
}

impl KernelFiles {
    /// Writes all changes, in an order in which no group is ever tighter than one in it: what is
    /// loosened from the outermost group on, then what is tightened from the innermost one on.
    /// What would make it so because another write failed is not written, and an error that says so.
    /// Says of each change, in the order in which they are given, whether anything had to be
    /// written for it.
    pub fn write_all(&mut self, changes: &[&Change]) -> Vec<Result<bool, KernelFileError>> {
        self.tightest_cores.clear();
        write_in_order(self, changes)
    }

    /// Writes a value unless it is there; says whether it was written.
    ///
    /// # Errors
    /// Those of the file; the next call tries again.
    pub fn write(
        &mut self,
        group: &Path,
        file: LimitFile,
        value: Value,
    ) -> Result<bool, KernelFileError> {
        if self.value(group, file)? == value {
            return Ok(false);
        }
        let known = self.known.entry(group.into()).or_default();
        known.values.remove(&file);
        known.write(group, file, value)?;
        known.values.insert(file, value);
        Ok(true)
    }

    /// What a limit file holds: what was written last, or else what is read now.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn value(&mut self, group: &Path, file: LimitFile) -> Result<Value, KernelFileError> {
        let known = self.known.get(group);
        if let Some(value) = known.and_then(|known| known.values.get(&file)) {
            return Ok(*value);
        }
        let value = read_limit(group, file)?;
        let known = self.known.entry(group.into()).or_default();
        known.values.insert(file, value);
        Ok(value)
    }

    /// The period of a group of version 1, and what caps it from outside; asked before the changes
    /// of a moment are written. `is_own` says that nobody but the agent writes in it.
    ///
    /// # Errors
    /// Those of reading its period.
    pub fn around(
        &mut self,
        group: &Path,
        mount_point: &Path,
        is_own: bool,
    ) -> Result<CpuSurroundings, KernelFileError> {
        let period_us = match self.periods_us.get(group).filter(|_| is_own) {
            Some(period_us) => *period_us,
            None => {
                let period_us = read_value(&group.join(PERIOD))?;
                if is_own {
                    self.periods_us.insert(group.into(), period_us);
                }
                period_us
            }
        };
        let outer = group.parent().unwrap_or(group);
        let tightest_cores = match self.tightest_cores.get(outer) {
            Some(cores) => *cores,
            None => {
                let cores = tightest_from(outer, mount_point);
                self.tightest_cores.insert(outer.into(), cores);
                cores
            }
        };
        Ok(CpuSurroundings::new(period_us, tightest_cores))
    }

    /// Forgets what the files of a group hold, and closes them.
    pub fn forget(&mut self, group: &Path) {
        self.known.retain(|known, _| !known.starts_with(group));
        self.periods_us.retain(|known, _| !known.starts_with(group));
    }

    /// Writes to a kernel file that is no limit.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write_text(&mut self, path: &Path, text: &str) -> Result<(), KernelFileError> {
        write_text(path, text)
    }

    /// Makes a group; says whether it was not there before.
    ///
    /// # Errors
    /// Those of making a directory.
    pub fn make_group(&mut self, group: &Path) -> Result<bool, KernelFileError> {
        match fs::create_dir(group) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(KernelFileError::new("make group", group, error)),
        }
    }

    /// Removes a group; says whether it is gone. One that still holds processes is not.
    ///
    /// # Errors
    /// Those of removing a directory, but for a busy one.
    pub fn remove_group(&mut self, group: &Path) -> Result<bool, KernelFileError> {
        self.forget(group);
        match fs::remove_dir(group) {
            Ok(()) => Ok(true),
            Err(error) => {
                let error = KernelFileError::new("remove group", group, error);
                if error.is(Errno::EBUSY) || error.is(Errno::ENOTEMPTY) {
                    Ok(false)
                } else if error.is_gone() {
                    Ok(true)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Moves whoever has a pid, with all threads; says whether anybody has it.
    ///
    /// # Errors
    /// Those of the group.
    pub fn write_pid(&mut self, pid: u32, group: &Path) -> Result<bool, KernelFileError> {
        match write_text(&group.join("cgroup.procs"), &pid.to_string()) {
            Ok(()) => Ok(true),
            Err(error) if error.is(Errno::ESRCH) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl LimitFiles for KernelFiles {
    fn held(&mut self, group: &Path, file: LimitFile) -> Option<Value> {
        self.value(group, file).ok()
    }

    fn change(&mut self, change: &Change) -> Result<bool, KernelFileError> {
        self.write(&change.group, change.file, change.value)
    }
}

impl Group {
    fn write(
        &mut self,
        group: &Path,
        file: LimitFile,
        value: Value,
    ) -> Result<(), KernelFileError> {
        let (name, text) = (file.name(), file.text(value));
        let path = group.join(name);
        let failed = |error| not_written(&text, &path, error);
        if let Some(open) = self.open.get(name) {
            match write_at_start(open, &text).map_err(failed) {
                // Of a group that was removed; another may have its name by now.
                Err(error) if error.is(Errno::ENODEV) => self.open.remove(name),
                written => return written,
            };
        }
        let open = open_to_write(&path).map_err(failed)?;
        write_at_start(&open, &text).map_err(failed)?;
        self.open.insert(name, open);
        Ok(())
    }
}

/// Reads a file as it is.
///
/// # Errors
/// Those of the file.
pub fn read_text(path: &Path) -> Result<String, KernelFileError> {
    fs::read_to_string(path).map_err(|error| KernelFileError::new("read", path, error))
}

/// Reads a file that holds one value.
///
/// # Errors
/// Those of the file, or a value that is no `T`.
pub fn read_value<T: FromStr>(path: &Path) -> Result<T, KernelFileError> {
    let text = read_text(path)?;
    let value = text.trim().parse();
    value.map_err(|_| KernelFileError::unexpected(path, &text))
}

/// Reads what a limit file holds now, whatever was written last.
///
/// # Errors
/// Those of the file, or a text that is not as expected.
pub fn read_limit(group: &Path, file: LimitFile) -> Result<Value, KernelFileError> {
    let path = group.join(file.name());
    let text = read_text(&path)?;
    let value = file.parse(&text);
    value.ok_or_else(|| KernelFileError::unexpected(&path, &text))
}

/// What is limited in a group: files that do not hold the kernel's default.
pub fn limits_of(group: &Path) -> Vec<(LimitFile, Value)> {
    let files = LimitFile::of_any_device().into_iter();
    let devices = [
        "blkio.throttle.read_bps_device",
        "blkio.throttle.write_bps_device",
        "io.max",
    ]
    .into_iter()
    .filter_map(|name| read_text(&group.join(name)).ok())
    .flat_map(|text| LimitFile::devices_in(&text))
    .flat_map(LimitFile::of_device);
    let all = files.chain(devices);
    // A group has the files of its controllers only.
    let held = all.filter_map(|file| Some((file, read_limit(group, file).ok()?)));
    held.filter(|(file, value)| *value != file.lifted())
        .collect()
}

/// The processes of a group, in ascending order.
///
/// The file is opened anew each time: the kernel keeps the list of a file that stays open for a
/// second after the last read, so that a reader who comes every second would never see a change.
///
/// # Errors
/// Those of reading `cgroup.procs`.
pub fn read_pids(group: &Path) -> Result<Vec<u32>, KernelFileError> {
    let path = group.join("cgroup.procs");
    let text =
        fs::read_to_string(&path).map_err(|error| KernelFileError::new("read", &path, error))?;
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    pids.sort_unstable();
    Ok(pids)
}

/// The processes of a group and of all groups in it, in ascending order.
///
/// # Errors
/// Those of reading; a group that vanishes meanwhile is left out.
pub fn read_pids_below(group: &Path) -> Result<Vec<u32>, KernelFileError> {
    let mut pids = read_pids(group)?;
    let entries =
        fs::read_dir(group).map_err(|error| KernelFileError::new("list", group, error))?;
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            match read_pids_below(&entry.path()) {
                Err(error) if error.is_gone() => {}
                below => pids.extend(below?),
            }
        }
    }
    pids.sort_unstable();
    Ok(pids)
}

/// Writes to a kernel file that is no limit.
///
/// # Errors
/// Those of the file.
pub fn write_text(path: &Path, text: &str) -> Result<(), KernelFileError> {
    let written = open_to_write(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| not_written(text, path, error))
}

/// Kernel files are never created: a missing one has to be an error.
fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).truncate(true).open(path)
}

/// Kernel files have no length; recorded ones may hold more than what is written now.
fn write_at_start(file: &File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(text.as_bytes(), 0)
}

fn not_written(text: &str, path: &Path, error: io::Error) -> KernelFileError {
    KernelFileError::new(format!("write {text} to"), path, error)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        process::{Command, Stdio},
    };

    use super::*;

    const SHARES: LimitFile = LimitFile::CpuShares;

    #[test]
    fn an_equal_value_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path();
        let path = group.join("cpu.shares");
        fs::write(&path, "1024\n").unwrap();
        let mut files = KernelFiles::default();
        assert!(!files.write(group, SHARES, Value::Weight(1024)).unwrap());
        assert!(files.write(group, SHARES, Value::Weight(2048)).unwrap());
        fs::write(&path, "9999").unwrap();
        assert!(!files.write(group, SHARES, Value::Weight(2048)).unwrap());
        assert_eq!(read_text(&path).unwrap(), "9999");
        files.forget(group);
        assert!(files.write(group, SHARES, Value::Weight(2048)).unwrap());
    }

    #[test]
    fn a_group_that_comes_again_under_its_name_is_written() {
        let root = Path::new("/sys/fs/cgroup/cpu");
        if !nix::unistd::geteuid().is_root() || !root.join("cpu.shares").exists() {
            return;
        }
        let group = root.join(format!("elastane-test-again-{}", std::process::id()));
        let mut files = KernelFiles::default();
        for _ in 0..2 {
            fs::create_dir(&group).unwrap();
            // The first group's file is still open, as the agent knows nothing of its end.
            for shares in [512, 256] {
                assert!(files.write(&group, SHARES, Value::Weight(shares)).unwrap());
                let held = read_limit(&group, SHARES).unwrap();
                assert_eq!(held, Value::Weight(shares));
            }
            fs::remove_dir(&group).unwrap();
        }
        let error = files.write(&group, SHARES, Value::Weight(512)).unwrap_err();
        assert!(error.is_gone(), "{error}");
    }

    #[test]
    fn an_error_names_path_and_reason_and_is_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path();
        let mut files = KernelFiles::default();
        let error = files.write(group, SHARES, Value::Weight(2)).unwrap_err();
        assert!(error.is_gone());
        let text = error.to_string();
        assert!(text.starts_with("cannot read /"), "{text}");
        assert!(
            text.ends_with("cpu.shares: No such file or directory (os error 2)"),
            "{text}"
        );
        fs::write(group.join("cpu.shares"), "1024").unwrap();
        assert!(files.write(group, SHARES, Value::Weight(2)).unwrap());
    }

    #[test]
    fn a_group_is_not_tightened_when_one_in_it_could_not_be() {
        let directory = tempfile::tempdir().unwrap();
        let outer = directory.path();
        fs::write(outer.join("memory.max"), "max").unwrap();
        let change = |group: &Path| Change {
            group: group.into(),
            file: LimitFile::MemoryMax,
            value: Value::AtMost(4096),
        };
        let changes = [change(outer), change(&outer.join("gone"))];
        let outcomes = KernelFiles::default().write_all(&[&changes[0], &changes[1]]);
        assert!(outcomes.iter().all(Result::is_err));
        assert_eq!(read_text(&outer.join("memory.max")).unwrap(), "max");
    }

    #[test]
    fn a_group_is_not_loosened_when_the_one_around_it_could_not_be() {
        let directory = tempfile::tempdir().unwrap();
        let (outer, inner) = (directory.path(), directory.path().join("inner"));
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("memory.max"), "4096").unwrap();
        // Neither read nor written, whoever tries.
        fs::create_dir(outer.join("memory.max")).unwrap();
        let change = |group: &Path| Change {
            group: group.into(),
            file: LimitFile::MemoryMax,
            value: Value::Unlimited,
        };
        let changes = [change(&inner), change(outer)];
        let changes = [&changes[0], &changes[1]];
        let mut files = KernelFiles::default();
        let outcomes = files.write_all(&changes);
        let reason = outcomes[0].as_ref().unwrap_err().to_string();
        assert!(
            reason.ends_with("the group around it could not be loosened"),
            "{reason}"
        );
        assert!(outcomes[1].is_err());
        assert_eq!(read_text(&inner.join("memory.max")).unwrap(), "4096");
        fs::remove_dir(outer.join("memory.max")).unwrap();
        fs::write(outer.join("memory.max"), "4096").unwrap();
        assert!(files.write_all(&changes).iter().all(Result::is_ok));
        assert_eq!(read_text(&inner.join("memory.max")).unwrap(), "max");
    }

    #[test]
    fn of_groups_that_are_gone_each_says_so() {
        let change = |group: &str| Change {
            group: group.into(),
            file: LimitFile::MemoryMax,
            value: Value::Unlimited,
        };
        let changes = [change("/nowhere/outer"), change("/nowhere/outer/inner")];
        let outcomes = KernelFiles::default().write_all(&[&changes[0], &changes[1]]);
        for outcome in outcomes {
            assert!(outcome.unwrap_err().is_gone());
        }
    }

    /// On a real group: only the kernel refuses.
    #[test]
    fn a_memory_limit_that_version_1_refuses_is_an_error_and_harms_nothing() {
        let root = Path::new("/sys/fs/cgroup/memory");
        if !nix::unistd::geteuid().is_root() || !root.join("memory.limit_in_bytes").exists() {
            return;
        }
        let group = root.join(format!("elastane-test-unit-{}", std::process::id()));
        fs::create_dir(&group).unwrap();
        let script = format!(
            "echo $$ > {}/cgroup.procs; exec python3 -c 'import time\n\
             held = bytearray(64 << 20)\nprint(1, flush=True)\ntime.sleep(60)'",
            group.display()
        );
        let mut holder = Command::new("sh")
            .args(["-c", &script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = holder.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let mut files = KernelFiles::default();
        let limit = |mib: u64| Value::AtMost(mib << 20);
        let mut write = |mib| files.write(&group, LimitFile::MemoryLimit, limit(mib));
        let error = write(16).unwrap_err();
        assert!(error.is(Errno::EBUSY), "{error}");
        assert!(write(256).unwrap(), "what failed is not taken for written");
        assert!(holder.try_wait().unwrap().is_none(), "it was killed");
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(files.remove_group(&group).unwrap());
    }

    #[test]
    fn a_group_that_is_not_empty_stays_and_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path().join("group");
        let mut files = KernelFiles::default();
        assert!(files.make_group(&group).unwrap());
        assert!(!files.make_group(&group).unwrap());
        fs::create_dir(group.join("inner")).unwrap();
        assert!(!files.remove_group(&group).unwrap());
        fs::remove_dir(group.join("inner")).unwrap();
        assert!(files.remove_group(&group).unwrap());
        assert!(files.remove_group(&group).unwrap());
    }

    #[test]
    fn processes_of_inner_groups_count() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("inner")).unwrap();
        fs::write(directory.path().join("cgroup.procs"), "7\n").unwrap();
        fs::write(directory.path().join("inner/cgroup.procs"), "5\n6\n").unwrap();
        assert_eq!(read_pids(directory.path()).unwrap(), [7]);
        assert_eq!(read_pids_below(directory.path()).unwrap(), [5, 6, 7]);
    }
}
