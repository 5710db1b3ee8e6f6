//! Writes limit files and remembers their values.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use nix::errno::Errno;

use super::{
    UrgentRaises,
    change_order::{LimitFiles, write_in_order},
    cpu_limits::{CpuSurroundings, PERIOD, tightest_from},
    file_access::{KernelFileError, not_written, open_to_write, read_value, write_at_start},
    group_state::read_limit,
    limit_file::{Change, LimitFile, Value},
};

/// Writes limit files. Remembers their values, so that no value is written twice.
#[derive(Debug, Default)]
pub struct KernelFiles {
    groups: HashMap<PathBuf, Group>,
    /// Version 1: the tightest CPU cap from a group upwards, cached until the next write, since
    /// most containers share their ancestors.
    tightest_cores: HashMap<PathBuf, Option<f64>>,
    /// Version 1: the CPU periods of the agent's own groups.
    periods_us: HashMap<PathBuf, u64>,
    /// None if no limit rises without the agent.
    raises: Option<Arc<UrgentRaises>>,
}

#[derive(Debug, Default)]
struct Group {
    values: BTreeMap<LimitFile, Value>,
    /// Files written before, by name. Opening a file takes longer than writing it.
    open: BTreeMap<&'static str, File>,
}

impl KernelFiles {
    /// Writes no limit of version 2 that rose without the agent.
    pub fn beside(raises: Arc<UrgentRaises>) -> Self {
        Self { raises: Some(raises), ..Self::default() }
    }

    /// Writes all changes in an order in which no group is ever tighter than one of its
    /// descendants: groups are loosened from the outermost one inwards, then tightened from the
    /// innermost one outwards. If a failed write would leave a group tighter than a descendant, the
    /// dependent writes are skipped and reported as errors.
    ///
    /// Returns for each change, in the order given, whether a write was needed.
    pub fn write_all(&mut self, changes: &[&Change]) -> Vec<Result<bool, KernelFileError>> {
        self.tightest_cores.clear();
        write_in_order(self, changes)
    }

    /// Writes a value unless the file shows it. Returns whether it wrote. A failed write is
    /// forgotten, so the next call tries again.
    pub fn write(
        &mut self,
        group: &Path,
        file: LimitFile,
        value: Value,
    ) -> Result<bool, KernelFileError> {
        let shown = self.value(group, file)?;
        if file.shows_as(value, shown) {
            return Ok(false);
        }
        let raises_version_1 = file == LimitFile::MemoryLimit && value.is_looser_than(shown);
        let known = self.groups.entry(group.into()).or_default();
        known.values.remove(&file);
        let mut write = || {
            refuse_below_charged(group, file, value)?;
            known.write(group, file, value)
        };
        match &self.raises {
            Some(raises) if raises_version_1 => raises.alone(group, write)?,
            Some(raises) => raises.unless_risen(group, file, write)?,
            None => write()?,
        }
        known.values.insert(file, value);
        Ok(true)
    }

    /// The remembered value of a limit file, or else the one read now.
    pub fn value(&mut self, group: &Path, file: LimitFile) -> Result<Value, KernelFileError> {
        if let Some(value) = self.remembered(group, file) {
            return Ok(value);
        }
        let value = read_limit(group, file)?;
        let known = self.groups.entry(group.into()).or_default();
        known.values.insert(file, value);
        Ok(value)
    }

    /// The value that was written or read last, unless it was forgotten.
    pub fn remembered(&self, group: &Path, file: LimitFile) -> Option<Value> {
        self.groups.get(group)?.values.get(&file).copied()
    }

    /// The CPU period of a version 1 group and the tightest cap of its ancestors. Valid until the
    /// next [`Self::write_all`]. `is_own`: only the agent writes to the group.
    pub fn around(
        &mut self,
        group: &Path,
        mount_point: &Path,
        is_own: bool,
    ) -> Result<CpuSurroundings, KernelFileError> {
        let period_us = match self.periods_us.get(group).filter(|_| is_own) {
            Some(period_us) => *period_us,
            None => read_value(&group.join(PERIOD))?,
        };
        if is_own {
            self.periods_us.insert(group.into(), period_us);
        }
        let outer = group.parent().unwrap_or(group);
        let tightest = self.tightest_cores.entry(outer.into());
        Ok(CpuSurroundings {
            period_us,
            tightest_cores: *tightest.or_insert_with(|| tightest_from(outer, mount_point)),
        })
    }

    /// Forgets the values of a group and its descendants, and closes their files.
    pub fn forget(&mut self, group: &Path) {
        self.groups.retain(|known, _| !known.starts_with(group));
        self.periods_us.retain(|known, _| !known.starts_with(group));
    }

    /// Forgets a value that somebody else writes.
    pub fn forget_value(&mut self, group: &Path, file: LimitFile) {
        if let Some(known) = self.groups.get_mut(group) {
            known.values.remove(&file);
        }
    }

    /// Remembers a value that a thread of the agent has written. The file shows it rounded.
    pub fn remember_value(&mut self, change: &Change) {
        let known = self.groups.entry(change.group.clone()).or_default();
        known.values.insert(change.file, change.value);
    }

    /// Removes a group. Returns whether it is gone: a group that still holds processes is not.
    pub fn remove_group(&mut self, group: &Path) -> Result<bool, KernelFileError> {
        self.forget(group);
        let Err(error) = fs::remove_dir(group) else {
            return Ok(true);
        };
        let error = KernelFileError::new("remove group", group, error);
        match error.errno() {
            Errno::EBUSY | Errno::ENOTEMPTY => Ok(false),
            _ if error.is_gone() => Ok(true),
            _ => Err(error),
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
                // The open file's group was removed; a new group may have its name.
                Err(error) if error.errno() == Errno::ENODEV => self.open.remove(name),
                written => return written,
            };
        }
        let open = open_to_write(&path).map_err(failed)?;
        write_at_start(&open, &text).map_err(failed)?;
        self.open.insert(name, open);
        Ok(())
    }
}

/// A `memory.max` below what is charged kills. More may be charged than when the value was computed: other writes take time.
fn refuse_below_charged(
    group: &Path,
    file: LimitFile,
    value: Value,
) -> Result<(), KernelFileError> {
    let (LimitFile::MemoryMax, Value::AtMost(bytes)) = (file, value) else {
        return Ok(());
    };
    match read_value::<u64>(&group.join("memory.current")) {
        Ok(charged_bytes) if charged_bytes > bytes => {
            let reason = format!("{charged_bytes} bytes are charged, so the kernel would kill");
            let path = group.join(file.name());
            Err(not_written(&file.text(value), &path, io::Error::other(reason)))
        }
        _ => Ok(()),
    }
}

pub fn make_group(group: &Path) -> Result<(), KernelFileError> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(KernelFileError::new("make group", group, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
