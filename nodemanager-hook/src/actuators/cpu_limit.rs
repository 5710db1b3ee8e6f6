//! The CPU limit of one group: `cpu.shares` and `cpu.cfs_quota_us`.

use std::path::{Path, PathBuf};

use elastane_protocol::CpuStep;
use serde::{Deserialize, Serialize};

use super::kernel_files::{KernelFileError, KernelFiles, read_value};
use crate::journal::{Journal, JournalError};

const SHARES: &str = "cpu.shares";
const QUOTA: &str = "cpu.cfs_quota_us";
const PERIOD: &str = "cpu.cfs_period_us";

const SHARES_PER_CORE: f64 = 1024.0;
/// The kernel's bounds of `cpu.shares`.
const SHARES_BOUNDS: (f64, f64) = (2.0, 262_144.0);
/// The least quota that the kernel takes.
const LEAST_QUOTA_US: f64 = 1000.0;
const NO_QUOTA: i64 = -1;

/// What the kernel files of a group hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLimit {
    pub shares: u64,
    pub quota_us: i64,
}

/// Why a limit could not be put in force.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(transparent)]
    KernelFile(#[from] KernelFileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{} belongs to another agent that runs: give each agent its own cgroup.parent", group.display())]
    Taken { group: PathBuf },
}

impl LimitError {
    /// Whether the group is not there any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::KernelFile(error) if error.is_gone())
    }
}

/// Whose group it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Agent,
    /// LinuxContainerExecutor: what it wrote is in the journal from the first limit on, and put
    /// back when the limit is lifted.
    ContainerExecutor,
}

/// Puts the limits of one container in force.
#[derive(Debug)]
pub struct CpuLimiter {
    group: PathBuf,
    mount_point: PathBuf,
    owner: Owner,
    in_force: Option<CpuStep>,
}

impl CpuLimit {
    /// What an own group holds without a limit; the kernel's defaults.
    pub const LIFTED: Self = Self {
        shares: 1024,
        quota_us: NO_QUOTA,
    };

    /// The shares of a weight in cores.
    pub fn shares_of(cores: f64) -> u64 {
        let (least, most) = SHARES_BOUNDS;
        (cores * SHARES_PER_CORE).round().clamp(least, most) as u64
    }

    /// The limit of a step. `tightest_cores` is the tightest cap around it, which the kernel does
    /// not let a group pass: from there on the group needs no quota of its own.
    fn of(step: &CpuStep, period_us: u64, tightest_cores: Option<f64>) -> Self {
        let cap = step.cap_cores.map(f64::from);
        let own = cap.filter(|cap| tightest_cores.is_none_or(|tightest| *cap < tightest));
        let quota_us = own.map_or(NO_QUOTA, |cores| {
            (cores * period_us as f64).round().max(LEAST_QUOTA_US) as i64
        });
        Self {
            shares: Self::shares_of(step.weight_cores.into()),
            quota_us,
        }
    }

    fn read(group: &Path) -> Result<Self, KernelFileError> {
        Ok(Self {
            shares: read_value(&group.join(SHARES))?,
            quota_us: read_value(&group.join(QUOTA))?,
        })
    }

    /// Writes what is not there yet; says whether something was.
    ///
    /// # Errors
    /// Those of the kernel files.
    pub fn write(self, group: &Path, files: &mut KernelFiles) -> Result<bool, KernelFileError> {
        let shares = files.write(&group.join(SHARES), self.shares)?;
        let quota = files.write(&group.join(QUOTA), self.quota_us)?;
        Ok(shares || quota)
    }
}

impl CpuLimiter {
    /// For a group that the agent made. What it holds now is read, so that only changes are
    /// written.
    ///
    /// # Errors
    /// Those of reading the group.
    pub fn own(
        group: &Path,
        mount_point: &Path,
        files: &mut KernelFiles,
    ) -> Result<Self, KernelFileError> {
        files.observe(&group.join(SHARES))?;
        files.observe(&group.join(QUOTA))?;
        Ok(Self::new(group, mount_point, Owner::Agent))
    }

    /// For a group that the container executor made; it is not touched before the first limit.
    pub fn foreign(group: &Path, mount_point: &Path) -> Self {
        Self::new(group, mount_point, Owner::ContainerExecutor)
    }

    fn new(group: &Path, mount_point: &Path, owner: Owner) -> Self {
        Self {
            group: group.into(),
            mount_point: mount_point.into(),
            owner,
            in_force: None,
        }
    }

    /// The group in the cpu hierarchy.
    pub fn group(&self) -> &Path {
        &self.group
    }

    /// The step that the kernel follows now.
    pub fn in_force(&self) -> Option<CpuStep> {
        self.in_force
    }

    /// Puts a step in force, or lifts the limit; gives what was written if something was.
    ///
    /// # Errors
    /// Those of the kernel files, or of the journal before anything was written. The next call
    /// tries again.
    pub fn apply(
        &mut self,
        step: Option<CpuStep>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<CpuLimit>, LimitError> {
        let limit = match (step, self.owner) {
            (Some(step), _) => self.limit_for(&step, journal)?,
            (None, Owner::Agent) => CpuLimit::LIFTED,
            (None, Owner::ContainerExecutor) => match journal.former_of(&self.group) {
                Some(former) => former,
                None => return Ok(None),
            },
        };
        let changed = limit.write(&self.group, files)?;
        self.in_force = step;
        if step.is_none() && self.owner == Owner::ContainerExecutor {
            // The executor may write its files from now on: what was written here says nothing.
            files.forget(&self.group);
            journal.forget_former(&self.group)?;
        }
        Ok(changed.then_some(limit))
    }

    fn limit_for(&self, step: &CpuStep, journal: &mut Journal) -> Result<CpuLimit, LimitError> {
        let period_us: u64 = read_value(&self.group.join(PERIOD))?;
        let around = tightest_above(&self.group, &self.mount_point);
        if self.owner == Owner::Agent {
            return Ok(CpuLimit::of(step, period_us, around));
        }
        let former = match journal.former_of(&self.group) {
            Some(former) => former,
            None => CpuLimit::read(&self.group)?,
        };
        journal.remember_former(&self.group, former)?;
        let executors = cap_cores(former.quota_us, period_us);
        let tightest = around.into_iter().chain(executors).reduce(f64::min);
        let mut limit = CpuLimit::of(step, period_us, tightest);
        if limit.quota_us == NO_QUOTA {
            // The executor's own cap stays where ours is looser.
            limit.quota_us = former.quota_us;
        }
        Ok(limit)
    }
}

/// The tightest cap of the groups around a group, in cores.
fn tightest_above(group: &Path, mount_point: &Path) -> Option<f64> {
    group
        .ancestors()
        .skip(1)
        .take_while(|above| above.starts_with(mount_point))
        .filter_map(|above| {
            let quota_us = read_value(&above.join(QUOTA)).ok()?;
            cap_cores(quota_us, read_value(&above.join(PERIOD)).ok()?)
        })
        .reduce(f64::min)
}

fn cap_cores(quota_us: i64, period_us: u64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(tree.group()).unwrap();
            for group in [tree.0.path().join("cpu/parent"), tree.group()] {
                fs::write(group.join(SHARES), "1024\n").unwrap();
                fs::write(group.join(QUOTA), "-1\n").unwrap();
                fs::write(group.join(PERIOD), "100000\n").unwrap();
            }
            tree
        }

        fn group(&self) -> PathBuf {
            self.0.path().join("cpu/parent/container_1_1_1_1")
        }

        fn mount_point(&self) -> PathBuf {
            self.0.path().join("cpu")
        }

        fn journal(&self) -> Journal {
            Journal::load(&self.0.path().join("journal")).unwrap()
        }

        fn values(&self) -> (u64, i64) {
            let limit = CpuLimit::read(&self.group()).unwrap();
            (limit.shares, limit.quota_us)
        }
    }

    fn step(weight_cores: f32, cap_cores: Option<f32>) -> CpuStep {
        CpuStep {
            offset_ms: 0,
            weight_cores,
            cap_cores,
        }
    }

    #[test]
    fn a_step_becomes_shares_and_quota_within_the_kernels_bounds() {
        for (weight, cap, limit) in [
            (1.5, Some(0.3), (1536, 30_000)),
            (0.0, Some(0.001), (2, 1000)),
            (1000.0, None, (262_144, -1)),
        ] {
            let limit_of = CpuLimit::of(&step(weight, cap), 100_000, None);
            assert_eq!((limit_of.shares, limit_of.quota_us), limit);
        }
        assert_eq!(
            CpuLimit::of(&step(1.0, Some(0.7)), 100_000, Some(0.6)).quota_us,
            -1
        );
    }

    #[test]
    fn an_own_group_is_written_on_change_and_lifted_to_the_defaults() {
        let tree = Tree::new();
        let (mut files, mut journal) = (KernelFiles::default(), tree.journal());
        let group = tree.group();
        let mut limiter = CpuLimiter::own(&group, &tree.mount_point(), &mut files).unwrap();
        assert_eq!(limiter.apply(None, &mut files, &mut journal).unwrap(), None);
        let first = step(2.0, Some(0.3));
        assert!(
            limiter
                .apply(Some(first), &mut files, &mut journal)
                .unwrap()
                .is_some()
        );
        assert_eq!(tree.values(), (2048, 30_000));
        assert!(
            limiter
                .apply(Some(first), &mut files, &mut journal)
                .unwrap()
                .is_none()
        );
        assert_eq!(limiter.in_force(), Some(first));
        limiter.apply(None, &mut files, &mut journal).unwrap();
        assert_eq!(tree.values(), (1024, -1));
        assert_eq!(limiter.in_force(), None);
    }

    #[test]
    fn a_foreign_group_gets_back_what_it_held_also_after_a_crash() {
        let tree = Tree::new();
        let (mut files, mut journal) = (KernelFiles::default(), tree.journal());
        fs::write(tree.group().join(SHARES), "3000").unwrap();
        fs::write(tree.group().join(QUOTA), "50000").unwrap();
        let mut limiter = CpuLimiter::foreign(&tree.group(), &tree.mount_point());
        limiter.apply(None, &mut files, &mut journal).unwrap();
        assert_eq!(tree.values(), (3000, 50_000));
        limiter
            .apply(Some(step(1.0, Some(0.2))), &mut files, &mut journal)
            .unwrap();
        assert_eq!(tree.values(), (1024, 20_000));
        let former = tree.journal().former().next().unwrap().1;
        assert_eq!((former.shares, former.quota_us), (3000, 50_000));
        // A cap looser than the executor's own one leaves that in force.
        limiter
            .apply(Some(step(1.0, Some(0.8))), &mut files, &mut journal)
            .unwrap();
        assert_eq!(tree.values(), (1024, 50_000));
        limiter.apply(None, &mut files, &mut journal).unwrap();
        assert_eq!(tree.values(), (3000, 50_000));
        assert_eq!(tree.journal().former().count(), 0);
    }

    #[test]
    fn a_cap_above_the_parents_is_left_to_the_parent() {
        let tree = Tree::new();
        let (mut files, mut journal) = (KernelFiles::default(), tree.journal());
        fs::write(tree.0.path().join("cpu/parent").join(QUOTA), "60000").unwrap();
        let group = tree.group();
        let mut limiter = CpuLimiter::own(&group, &tree.mount_point(), &mut files).unwrap();
        let mut quota_of = |cap| {
            let step = step(1.0, Some(cap));
            limiter.apply(Some(step), &mut files, &mut journal).unwrap();
            tree.values().1
        };
        assert_eq!(quota_of(0.7), -1);
        assert_eq!(quota_of(0.5), 50_000);
    }
}
