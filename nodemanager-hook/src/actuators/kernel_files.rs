//! The one writer of kernel files.

use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    str::FromStr,
};

use nix::errno::Errno;

/// A kernel file or group that could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct KernelFileError {
    action: String,
    path: PathBuf,
    source: io::Error,
}

/// Writes kernel files and remembers what it wrote, so that nothing is written twice.
#[derive(Debug, Default)]
pub struct KernelFiles {
    written: HashMap<PathBuf, String>,
}

impl KernelFileError {
    pub fn new(action: impl Into<String>, path: &Path, source: io::Error) -> Self {
        Self {
            action: action.into(),
            path: path.into(),
            source,
        }
    }

    /// Whether the group or the process is not there any more.
    pub fn is_gone(&self) -> bool {
        self.is(Errno::ENOENT) || self.is(Errno::ENODEV) || self.is(Errno::ESRCH)
    }

    fn is(&self, errno: Errno) -> bool {
        self.source.raw_os_error() == Some(errno as i32)
    }
}

impl KernelFiles {
    /// Writes a value unless it was the last one written there; says whether it was written.
    ///
    /// # Errors
    /// Those of the file; the next call tries again.
    pub fn write(&mut self, path: &Path, value: impl ToString) -> Result<bool, KernelFileError> {
        let value = value.to_string();
        if self.written.get(path) == Some(&value) {
            return Ok(false);
        }
        self.written.remove(path);
        write(path, &value)?;
        self.written.insert(path.into(), value);
        Ok(true)
    }

    /// Takes what is in a file now for what was written last.
    ///
    /// # Errors
    /// Those of reading the file.
    pub fn observe(&mut self, path: &Path) -> Result<(), KernelFileError> {
        let value: String = read_value(path)?;
        self.written.insert(path.into(), value);
        Ok(())
    }

    /// Forgets what was written in a group.
    pub fn forget(&mut self, group: &Path) {
        self.written.retain(|path, _| !path.starts_with(group));
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
        match write(&group.join("cgroup.procs"), &pid.to_string()) {
            Ok(()) => Ok(true),
            Err(error) if error.is(Errno::ESRCH) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Reads a file that holds one value.
///
/// # Errors
/// Those of the file, or a value that is no `T`.
pub fn read_value<T: FromStr>(path: &Path) -> Result<T, KernelFileError> {
    let text =
        fs::read_to_string(path).map_err(|error| KernelFileError::new("read", path, error))?;
    text.trim().parse().map_err(|_| {
        let reason = format!("`{}` is not as expected", text.trim());
        let error = io::Error::new(io::ErrorKind::InvalidData, reason);
        KernelFileError::new("read", path, error)
    })
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

fn write(path: &Path, value: &str) -> Result<(), KernelFileError> {
    // Kernel files are never created: a missing one has to be an error.
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|error| KernelFileError::new(format!("write {value} to"), path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_value_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cpu.shares");
        fs::write(&path, "1024\n").unwrap();
        let mut files = KernelFiles::default();
        files.observe(&path).unwrap();
        assert!(!files.write(&path, 1024).unwrap());
        assert!(files.write(&path, 2048).unwrap());
        fs::write(&path, "9999").unwrap();
        assert!(!files.write(&path, 2048).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "9999");
        files.forget(directory.path());
        assert!(files.write(&path, 2048).unwrap());
    }

    #[test]
    fn an_error_names_path_and_reason_and_is_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cpu.shares");
        let mut files = KernelFiles::default();
        let error = files.write(&path, 2).unwrap_err();
        assert!(error.is_gone());
        let text = error.to_string();
        assert!(text.starts_with("cannot write 2 to /"), "{text}");
        assert!(
            text.ends_with("cpu.shares: No such file or directory (os error 2)"),
            "{text}"
        );
        fs::write(&path, "1024").unwrap();
        assert!(files.write(&path, 2).unwrap());
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
