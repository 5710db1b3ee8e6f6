//! CPU limits as kernel files.

use std::path::Path;

use super::Setting;
use crate::actuators::{
    KernelFileError, LimitFile, Value,
    kernel_files::{read_text, read_value},
};

/// What one core is as `cpu.shares`: the kernel's default, so that a container of one core weighs
/// as much as a group that nobody weighed.
const SHARES_PER_CORE: f64 = 1024.0;
/// The kernel's bounds of `cpu.shares`.
const SHARES_BOUNDS: (f64, f64) = (2.0, 262_144.0);
/// What one core is as `cpu.weight`: the kernel's default there, for the same reason. The bounds
/// below leave 1/100 to 100 cores, and what is larger counts as 100.
const WEIGHT_PER_CORE: f64 = 100.0;
/// The kernel's bounds of `cpu.weight`.
const WEIGHT_BOUNDS: (f64, f64) = (1.0, 10_000.0);
/// The period of a group in version 1.
pub const PERIOD: &str = "cpu.cfs_period_us";
/// The least quota that the kernel takes.
const LEAST_QUOTA_US: f64 = 1000.0;

/// The CPU part of [`elastane_protocol::Limits`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuLimits {
    pub weight_cores: Option<f32>,
    pub cap_cores: Option<f32>,
}

/// What the kernel says of a group and those around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuSurroundings {
    period_us: u64,
    /// The tightest cap of the groups around it.
    tightest_cores: Option<f64>,
}

/// The weight of a group in version 1.
pub fn shares(cores: f64) -> Value {
    let (least, most) = SHARES_BOUNDS;
    Value::Weight((cores * SHARES_PER_CORE).round().clamp(least, most) as u64)
}

/// The weight of a group in version 2.
pub fn weight(cores: f64) -> Value {
    let (least, most) = WEIGHT_BOUNDS;
    Value::Weight((cores * WEIGHT_PER_CORE).round().clamp(least, most) as u64)
}

/// Version 1 refuses a quota above the one around it: from there on none of its own is needed.
pub fn cpu_v1(limits: CpuLimits, around: CpuSurroundings) -> Vec<Setting> {
    let own = limits.cap_cores.filter(|cap| {
        let tightest = around.tightest_cores;
        tightest.is_none_or(|tightest| f64::from(*cap) < tightest)
    });
    let weight = limits.weight_cores;
    let shares = weight.map(|cores| (LimitFile::CpuShares, shares(cores.into())));
    let quota = own.map(|cores| (LimitFile::CpuQuota, quota(cores, around.period_us)));
    shares.into_iter().chain(quota).collect()
}

pub fn cpu_v2(limits: CpuLimits, period_us: u64) -> Vec<Setting> {
    let cores = limits.weight_cores;
    let weight = cores.map(|cores| (LimitFile::CpuWeight, weight(cores.into())));
    let cap = limits.cap_cores;
    let max = cap.map(|cores| (LimitFile::CpuMax, quota(cores, period_us)));
    weight.into_iter().chain(max).collect()
}

fn quota(cores: f32, period_us: u64) -> Value {
    let quota_us = (f64::from(cores) * period_us as f64).round();
    Value::AtMost(quota_us.max(LEAST_QUOTA_US) as u64)
}

impl CpuSurroundings {
    pub fn new(period_us: u64, tightest_cores: Option<f64>) -> Self {
        Self {
            period_us,
            tightest_cores,
        }
    }
}

/// The period of `cpu.max`, which stands behind the quota.
pub fn period_us(group: &Path) -> Result<u64, KernelFileError> {
    let path = group.join(LimitFile::CpuMax.name());
    let text = read_text(&path)?;
    let period = text.split_ascii_whitespace().nth(1);
    period
        .and_then(|period| period.parse().ok())
        .ok_or_else(|| KernelFileError::unexpected(&path, &text))
}

/// The tightest cap of a group of version 1 and those around it.
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

    fn limits(weight_cores: f32, cap_cores: Option<f32>) -> CpuLimits {
        CpuLimits {
            weight_cores: Some(weight_cores),
            cap_cores,
        }
    }

    fn around(tightest_cores: Option<f64>) -> CpuSurroundings {
        CpuSurroundings {
            period_us: 100_000,
            tightest_cores,
        }
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
            let v1 = cpu_v1(limits, around(None));
            assert_eq!(v1, [(CpuShares, shares), (CpuQuota, quota)]);
            let v2 = cpu_v2(limits, 100_000);
            assert_eq!(v2, [(CpuWeight, weight), (CpuMax, quota)]);
        }
    }

    #[test]
    fn without_a_cap_nothing_is_held_down() {
        let v1 = cpu_v1(limits(1.0, None), around(None));
        assert_eq!(v1, [(LimitFile::CpuShares, Value::Weight(1024))]);
        let v2 = cpu_v2(limits(1.0, None), 100_000);
        assert_eq!(v2, [(LimitFile::CpuWeight, Value::Weight(100))]);
        assert!(cpu_v1(CpuLimits::default(), around(None)).is_empty());
    }

    #[test]
    fn a_cap_that_is_not_below_the_one_around_is_left_to_that() {
        let files = |cap| cpu_v1(limits(1.0, Some(cap)), around(Some(0.6))).len();
        assert_eq!((files(0.7), files(0.5)), (1, 2));
    }
}
