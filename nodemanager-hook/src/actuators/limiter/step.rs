//! The changes of kernel files for one resource of a container.

use std::path::{Path, PathBuf};

use super::{MemoryInForce, Owner, Place};
use crate::{
    actuators::{
        Change, KernelFiles, LimitError, LimitFile, Value,
        group_state::read_limit,
        limits::{Setting, cpu::CpuLimits},
    },
    journal::Journal,
};

/// The changes for one resource, and the limit that they put in force.
#[derive(Debug)]
pub struct LimitStep {
    pub changes: Vec<Change>,
    pub(super) settles: Settles,
    /// Whether the plan is unchanged and the limit follows the resident memory.
    pub follows_use: bool,
    /// Files of the container executor that hold its own value after this step.
    pub(super) returned: Vec<(PathBuf, LimitFile)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Settles {
    Cpu(CpuLimits),
    Memory(Option<MemoryInForce>),
    Disk(Option<u64>),
}

/// Writes `settings`, and lifts those of `all` files that have no setting.
pub(super) fn plan_step(
    place: &Place,
    settings: Vec<Setting>,
    all: &[LimitFile],
    settles: Settles,
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<LimitStep, LimitError> {
    let group = &place.group;
    let is_set = |file: &LimitFile| settings.iter().any(|(set, _)| set == file);
    let lifted: Vec<LimitFile> = all.iter().copied().filter(|file| !is_set(file)).collect();
    let mut step = LimitStep {
        changes: Vec::new(),
        settles,
        follows_use: false,
        returned: Vec::new(),
    };
    if place.owner == Owner::ContainerExecutor {
        journal_former(group, &settings, files, journal)?;
    }
    for (file, value) in settings {
        let former = journal.former_value(group, file);
        // The executor's own bound is never loosened.
        let value = former.map_or(value, |former| value.tighter(former));
        step.push(group, file, value);
    }
    for file in lifted {
        match (place.owner, journal.former_value(group, file)) {
            (Owner::Agent, _) => step.push(group, file, file.lifted()),
            (Owner::ContainerExecutor, Some(former)) => {
                step.push(group, file, former);
                step.returned.push((group.clone(), file));
            }
            (Owner::ContainerExecutor, None) => {}
        }
    }
    Ok(step)
}

impl LimitStep {
    fn push(&mut self, group: &Path, file: LimitFile, value: Value) {
        self.changes.push(Change {
            group: group.into(),
            file,
            value,
        });
    }
}

/// Journals the present values of the files that are limited for the first time.
fn journal_former(
    group: &Path,
    settings: &[Setting],
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let mut former = Vec::new();
    for (file, _) in settings {
        if journal.former_value(group, *file).is_none() {
            files.forget(group);
            former.push((*file, read_limit(group, *file)?));
        }
    }
    Ok(journal.remember_former(group, former)?)
}
