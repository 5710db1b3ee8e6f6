//! The limits and the processes of a group, read from its files.

use std::{fs, path::Path};

use super::{
    file_access::{KernelFileError, read_text},
    limit_file::{LimitFile, Value},
};
use crate::{cgroups::Version, memory_watch::limit_that_wakes_at};

/// Reads a limit file, past the values that [`super::KernelFiles`] remembers.
pub fn read_limit(group: &Path, file: LimitFile) -> Result<Value, KernelFileError> {
    let path = group.join(file.name());
    let text = read_text(&path)?;
    let value = file.parse(&text);
    value.ok_or_else(|| KernelFileError::unexpected(&path, &text))
}

/// The memory limit that the kernel enforces, in bytes. On v2 the tighter one of `memory.max` and the limit that belongs to
/// `memory.high`.
pub fn memory_limit_of(group: &Path, version: Version) -> Result<Option<u64>, KernelFileError> {
    let limit = match version {
        Version::One => read_limit(group, LimitFile::MemoryLimit)?,
        Version::Two => {
            let high = match read_limit(group, LimitFile::MemoryHigh)? {
                Value::AtMost(bytes) => Value::AtMost(limit_that_wakes_at(bytes)),
                other => other,
            };
            high.tighter(read_limit(group, LimitFile::MemoryMax)?)
        }
    };
    Ok(match limit {
        Value::AtMost(bytes) => Some(bytes),
        Value::Unlimited | Value::Weight(_) => None,
    })
}

/// The limit files of a group whose value is not the kernel's default.
pub fn limits_of(group: &Path) -> Vec<(LimitFile, Value)> {
    let devices = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device", "io.max"]
        .into_iter()
        .filter_map(|name| read_text(&group.join(name)).ok())
        .flat_map(|text| LimitFile::devices_in(&text))
        .flat_map(LimitFile::of_device);
    let files = LimitFile::of_any_device().into_iter().chain(devices);
    // A group has the files of its controllers only.
    let held = files.filter_map(|file| Some((file, read_limit(group, file).ok()?)));
    held.filter(|(file, value)| *value != file.lifted()).collect()
}

/// The processes of a group, in ascending order.
///
/// Each call opens the file anew. The kernel caches the list of an open file until one second after
/// the last read, so a reader that comes every second would never see a change.
pub fn read_pids(group: &Path) -> Result<Vec<u32>, KernelFileError> {
    let text = read_text(&group.join("cgroup.procs"))?;
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    pids.sort_unstable();
    Ok(pids)
}

/// The processes of a group and of its descendants, in ascending order. A descendant that vanishes
/// meanwhile is skipped.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_descendants_count() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("inner")).unwrap();
        fs::write(directory.path().join("cgroup.procs"), "7\n").unwrap();
        fs::write(directory.path().join("inner/cgroup.procs"), "5\n6\n").unwrap();
        assert_eq!(read_pids(directory.path()).unwrap(), [7]);
        assert_eq!(read_pids_below(directory.path()).unwrap(), [5, 6, 7]);
    }
}
