//! The changes of kernel files for one resource of a container.

use std::path::{Path, PathBuf};

use elastane_protocol::Limits;

use super::{InForce, LimitPlace, Owner};
use crate::{
    actuators::{Change, KernelFiles, LimitError, LimitFile, Setting, group_state::read_limit},
    cgroups::Controller,
    journal::Journal,
};

/// What the files of one resource should hold.
#[derive(Debug)]
pub(super) struct Target {
    /// Only the part of the resource counts.
    pub in_force: InForce,
    pub settings: Vec<Setting>,
    /// Files to lift if they have no setting.
    pub all: Vec<LimitFile>,
    /// Whether the plan is unchanged and the limit follows the resident memory.
    pub follows_use: bool,
    /// What the kernel has to reclaim for a limit of memory.
    pub reclaimed_bytes: u64,
}

/// The changes for one resource, and the limit that they put in force.
#[derive(Debug)]
pub struct LimitStep {
    pub changes: Vec<Change>,
    pub(super) controller: Controller,
    pub(super) in_force: InForce,
    /// Whether the plan is unchanged and the limit follows the resident memory.
    pub follows_use: bool,
    /// What the kernel has to reclaim for a limit of memory.
    pub reclaimed_bytes: u64,
    /// Files of the container executor that hold its own value after this step.
    pub(super) returned: Vec<(PathBuf, LimitFile)>,
    /// Values that somebody else wrote, which stay. An open write of the file has to end with them. A write that ended after
    /// the value was read has replaced it.
    pub kept: Vec<Change>,
}

impl Target {
    pub fn new(planned: &Limits, settings: Vec<Setting>, all: Vec<LimitFile>) -> Self {
        let in_force = InForce { limits: *planned, ..InForce::default() };
        Self { in_force, settings, all, follows_use: false, reclaimed_bytes: 0 }
    }
}

impl LimitStep {
    /// Whether this only writes a memory limit for which the kernel has to reclaim memory.
    pub fn is_slow(&self) -> bool {
        self.reclaimed_bytes > 0 && matches!(&self.changes[..], [change] if change.reclaims())
    }

    pub(super) fn new(
        controller: Controller,
        place: &LimitPlace,
        target: Target,
        open_write: Option<&Change>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Self, LimitError> {
        let LimitPlace { group, owner, .. } = place;
        let mut lifted = target.all;
        lifted.retain(|file| target.settings.iter().all(|(set, _)| set != file));
        if *owner == Owner::ContainerExecutor {
            journal_former(group, &target.settings, files, journal)?;
        }
        let change = |file, value| Change { group: group.clone(), file, value };
        let mut changes = Vec::new();
        for (file, value) in target.settings {
            // The executor's own bound is never loosened.
            let former = journal.former(group, file).map(|former| former.value);
            let value = former.map_or(value, |former| value.tighter(former));
            let change = change(file, value);
            remember_written(&change, open_write, journal)?;
            changes.push(change);
        }
        let (mut returned, mut kept) = (Vec::new(), Vec::new());
        for file in lifted {
            match (owner, journal.former(group, file)) {
                (Owner::Agent, _) => changes.push(change(file, file.lifted())),
                (Owner::ContainerExecutor, Some(former)) => {
                    // What somebody else wrote since then stays. A value of the agent's that a thread has not written yet
                    // has to be followed by the former one too.
                    let shown = read_limit(group, file)?;
                    if former.is_own(shown) || shown == former.value {
                        changes.push(change(file, former.value));
                    } else {
                        kept.push(change(file, shown));
                    }
                    returned.push((group.clone(), file));
                }
                (Owner::ContainerExecutor, None) => {}
            }
        }
        let Target { in_force, follows_use, reclaimed_bytes, .. } = target;
        Ok(Self { changes, controller, in_force, follows_use, reclaimed_bytes, returned, kept })
    }
}

/// Journals a value before it is written. An earlier write may have failed, so the journal also keeps the agent's value
/// that the file shows now, and the value that a thread may still write.
fn remember_written(
    change: &Change,
    open_write: Option<&Change>,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let Change { group, file, value } = change;
    let Some(former) = journal.former(group, *file).filter(|former| !former.is_newest(*value))
    else {
        return Ok(());
    };
    let shown = Some(read_limit(group, *file)?).filter(|shown| former.is_own(*shown));
    let open = open_write.filter(|open| open.file == *file).map(|open| open.value);
    for earlier in open.into_iter().chain(shown) {
        journal.remember_written(group, *file, earlier)?;
    }
    Ok(journal.remember_written(group, *file, *value)?)
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
        if journal.former(group, *file).is_none() {
            files.forget(group);
            former.push((*file, read_limit(group, *file)?));
        }
    }
    Ok(journal.remember_former(group, former)?)
}
