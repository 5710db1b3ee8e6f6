//! CPU limits as kernel files.

use std::path::Path;

use elastane_protocol::Limits;

use crate::{
    actuators::{
        KernelFileError, LimitFile, Setting, Value,
        file_access::{read_text, read_value},
    },
    cgroups::Version,
};

/// `cpu.shares` of one core: the kernel's default, so that a container of one core weighs as much
/// as a group without a weight of its own.
const SHARES_PER_CORE: f64 = 1024.0;
/// The kernel's bounds of `cpu.shares`.
const SHARES_BOUNDS: (f64, f64) = (2.0, 262_144.0);
/// `cpu.weight` of one core: the kernel's default, for the same reason. The bounds below admit
/// 1/100 to 100 cores; a larger weight counts as 100 cores.
const WEIGHT_PER_CORE: f64 = 100.0;
/// The kernel's bounds of `cpu.weight`.
const WEIGHT_BOUNDS: (f64, f64) = (1.0, 10_000.0);
/// The file of a group's period in version 1.
pub const PERIOD: &str = "cpu.cfs_period_us";
/// The smallest quota that the kernel accepts.
const MIN_QUOTA_US: f64 = 1000.0;

/// The period of a group, and the caps around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuSurroundings {
    pub period_us: u64,
    /// Version 1: the tightest cap of its ancestors.
    pub tightest_cores: Option<f64>,
}

/// The file of the weight and that of the cap.
pub fn cpu_files(version: Version) -> [LimitFile; 2] {
    match version {
        Version::One => [LimitFile::CpuShares, LimitFile::CpuQuota],
        Version::Two => [LimitFile::CpuWeight, LimitFile::CpuMax],
    }
}

fn weight(version: Version, cores: f32) -> Value {
    let (per_core, (min, max)) = match version {
        Version::One => (SHARES_PER_CORE, SHARES_BOUNDS),
        Version::Two => (WEIGHT_PER_CORE, WEIGHT_BOUNDS),
    };
    Value::Weight((f64::from(cores) * per_core).round().clamp(min, max) as u64)
}

/// The weight of a group that leaves a part of the CPU to another group of the kernel's default weight beside it.
pub fn weight_beside_others(version: Version, part: f32) -> Value {
    weight(version, (1.0 - part) / part)
}

/// Version 1 refuses a quota above an ancestor's. Such a cap is left to the ancestor.
pub fn cpu_settings(limits: &Limits, version: Version, around: CpuSurroundings) -> Vec<Setting> {
    let [weight_file, cap_file] = cpu_files(version);
    let tightest = around.tightest_cores.unwrap_or(f64::INFINITY);
    let own_cap = limits.cpu_cap_cores.filter(|cap| f64::from(*cap) < tightest);
    let cap = own_cap.map(|cores| (cap_file, quota(cores, around.period_us)));
    let weight = limits.cpu_weight_cores.map(|cores| (weight_file, weight(version, cores)));
    weight.into_iter().chain(cap).collect()
}

fn quota(cores: f32, period_us: u64) -> Value {
    let quota_us = (f64::from(cores) * period_us as f64).round();
    Value::AtMost(quota_us.max(MIN_QUOTA_US) as u64)
}

/// The period of `cpu.max`, its second word.
pub fn period_us(group: &Path) -> Result<u64, KernelFileError> {
    let path = group.join(LimitFile::CpuMax.name());
    let text = read_text(&path)?;
    let period = text.split_ascii_whitespace().nth(1);
    period
        .and_then(|period| period.parse().ok())
        .ok_or_else(|| KernelFileError::unexpected(&path, &text))
}

/// The tightest cap of a version 1 group and its ancestors.
pub fn tightest_from(group: &Path, mount_point: &Path) -> Option<f64> {
    group
        .ancestors()
        .take_while(|above| above.starts_with(mount_point))
        .filter_map(|above| {
            let quota_us: i64 = read_value(&above.join("cpu.cfs_quota_us")).ok()?;
            let period_us: u64 = read_value(&above.join(PERIOD)).ok()?;
            (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
        })
        .reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(weight_cores: f32, cpu_cap_cores: Option<f32>) -> Limits {
        Limits { cpu_weight_cores: Some(weight_cores), cpu_cap_cores, ..Limits::default() }
    }

    fn around(tightest_cores: Option<f64>) -> CpuSurroundings {
        CpuSurroundings { period_us: 100_000, tightest_cores }
    }

    #[test]
    fn cores_become_weight_and_quota_within_the_kernels_bounds() {
        use LimitFile::{CpuMax, CpuQuota, CpuShares, CpuWeight};
        for (weight_cores, cap, shares, weight, quota_us) in [
            (1.5, 0.3, 1536, 150, 30_000),
            (0.0, 0.001, 2, 1, 1000),
            (1000.0, 4.0, 262_144, 10_000, 400_000),
        ] {
            let limits = limits(weight_cores, Some(cap));
            let (shares, weight) = (Value::Weight(shares), Value::Weight(weight));
            let quota = Value::AtMost(quota_us);
            let v1 = cpu_settings(&limits, Version::One, around(None));
            assert_eq!(v1, [(CpuShares, shares), (CpuQuota, quota)]);
            let v2 = cpu_settings(&limits, Version::Two, around(None));
            assert_eq!(v2, [(CpuWeight, weight), (CpuMax, quota)]);
        }
    }

    #[test]
    fn another_group_beside_keeps_its_part() {
        for (part, weight) in [(0.1, 900), (0.5, 100), (0.001, 10_000), (0.999, 1)] {
            assert_eq!(weight_beside_others(Version::Two, part), Value::Weight(weight));
        }
        assert_eq!(weight_beside_others(Version::One, 0.1), Value::Weight(9216));
    }

    #[test]
    fn without_a_cap_no_quota_is_written() {
        let v1 = cpu_settings(&limits(1.0, None), Version::One, around(None));
        assert_eq!(v1, [(LimitFile::CpuShares, Value::Weight(1024))]);
        let v2 = cpu_settings(&limits(1.0, None), Version::Two, around(None));
        assert_eq!(v2, [(LimitFile::CpuWeight, Value::Weight(100))]);
        assert!(cpu_settings(&Limits::default(), Version::One, around(None)).is_empty());
    }

    #[test]
    fn a_cap_above_an_ancestors_cap_is_not_written() {
        let files = |cap| {
            let limits = limits(1.0, Some(cap));
            cpu_settings(&limits, Version::One, around(Some(0.6))).len()
        };
        assert_eq!((files(0.7), files(0.5)), (1, 2));
    }
}
