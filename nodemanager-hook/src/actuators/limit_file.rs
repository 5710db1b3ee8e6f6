//! The kernel files that limit a group, and the text format of each.

use std::{collections::BTreeSet, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::sensors::{Device, page_bytes};

/// A limit file of a group, or one device's part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LimitFile {
    CpuShares,
    CpuQuota,
    CpuWeight,
    CpuMax,
    MemoryLimit,
    MemoryHigh,
    MemoryMax,
    ReadThrottle(Device),
    WriteThrottle(Device),
    IoMaxRead(Device),
    IoMaxWrite(Device),
}

/// The value of a limit file, in the file's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// A share under contention.
    Weight(u64),
    AtMost(u64),
    Unlimited,
}

/// A limit file and its new value. Settings are listed in the order in which they must be written.
pub type Setting = (LimitFile, Value);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub group: PathBuf,
    pub file: LimitFile,
    pub value: Value,
}

impl Change {
    /// Whether the kernel reclaims memory before the write returns, if more is charged than the value.
    pub fn reclaims(&self) -> bool {
        matches!(self.file, LimitFile::MemoryLimit | LimitFile::MemoryHigh)
    }
}

impl Value {
    /// Whether this bound is looser. Weights are never looser.
    pub fn is_looser_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::AtMost(this), Self::AtMost(other)) => this > other,
            (Self::Unlimited, Self::AtMost(_)) => true,
            _ => false,
        }
    }

    pub fn looser(self, other: Self) -> Self {
        if other.is_looser_than(self) { other } else { self }
    }

    pub fn tighter(self, other: Self) -> Self {
        if self.is_looser_than(other) { other } else { self }
    }
}

impl LimitFile {
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuShares => "cpu.shares",
            Self::CpuQuota => "cpu.cfs_quota_us",
            Self::CpuWeight => "cpu.weight",
            Self::CpuMax => "cpu.max",
            Self::MemoryLimit => "memory.limit_in_bytes",
            Self::MemoryHigh => "memory.high",
            Self::MemoryMax => "memory.max",
            Self::ReadThrottle(_) => "blkio.throttle.read_bps_device",
            Self::WriteThrottle(_) => "blkio.throttle.write_bps_device",
            Self::IoMaxRead(_) | Self::IoMaxWrite(_) => "io.max",
        }
    }

    /// The files without devices, in the order for loosening: `memory.max`, which kills, before
    /// `memory.high`, which slows down.
    pub fn of_any_device() -> [Self; 7] {
        [
            Self::CpuShares,
            Self::CpuQuota,
            Self::CpuWeight,
            Self::CpuMax,
            Self::MemoryLimit,
            Self::MemoryMax,
            Self::MemoryHigh,
        ]
    }

    /// A device's part of each file that has devices.
    pub fn of_device(device: Device) -> [Self; 4] {
        [
            Self::ReadThrottle(device),
            Self::WriteThrottle(device),
            Self::IoMaxRead(device),
            Self::IoMaxWrite(device),
        ]
    }

    /// The devices that have a line in a file.
    pub fn devices_in(text: &str) -> BTreeSet<Device> {
        let first_words = text.lines().filter_map(|line| line.split(' ').next());
        first_words.filter_map(|word| word.parse().ok()).collect()
    }

    /// Whether the file shows `shown` after `written` was written: the kernel rounds memory down to whole pages.
    pub fn shows_as(self, written: Value, shown: Value) -> bool {
        match (self, written, shown) {
            (
                Self::MemoryLimit | Self::MemoryHigh | Self::MemoryMax,
                Value::AtMost(written),
                Value::AtMost(shown),
            ) => written / page_bytes() == shown / page_bytes(),
            _ => written == shown,
        }
    }

    /// The kernel's default: the value of an unlimited group.
    pub fn lifted(self) -> Value {
        match self {
            Self::CpuShares => Value::Weight(1024),
            Self::CpuWeight => Value::Weight(100),
            _ => Value::Unlimited,
        }
    }

    pub fn text(self, value: Value) -> String {
        let number = match value {
            Value::Weight(number) | Value::AtMost(number) => number.to_string(),
            Value::Unlimited => self.unlimited().to_owned(),
        };
        match self {
            Self::ReadThrottle(device) | Self::WriteThrottle(device) => {
                format!("{device} {number}")
            }
            Self::IoMaxRead(device) => format!("{device} rbps={number}"),
            Self::IoMaxWrite(device) => format!("{device} wbps={number}"),
            _ => number,
        }
    }

    /// The value in the file's text, or None if the format is unexpected.
    pub fn parse(self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Self::CpuShares | Self::CpuWeight => text.parse().ok().map(Value::Weight),
            // `QUOTA PERIOD`.
            Self::CpuMax => self.bound(text.split_ascii_whitespace().next()?),
            Self::CpuQuota | Self::MemoryLimit | Self::MemoryHigh | Self::MemoryMax => {
                self.bound(text)
            }
            Self::ReadThrottle(device) | Self::WriteThrottle(device) => {
                line_of(text, device).map_or(Some(Value::Unlimited), |number| self.bound(number))
            }
            Self::IoMaxRead(device) => self.io_bound(text, device, "rbps="),
            Self::IoMaxWrite(device) => self.io_bound(text, device, "wbps="),
        }
    }

    fn unlimited(self) -> &'static str {
        match self {
            Self::CpuQuota | Self::MemoryLimit => "-1",
            Self::ReadThrottle(_) | Self::WriteThrottle(_) => "0",
            _ => "max",
        }
    }

    fn bound(self, text: &str) -> Option<Value> {
        if text == self.unlimited() {
            return Some(Value::Unlimited);
        }
        let number: u64 = text.parse().ok()?;
        // Version 1 prints the largest page-aligned number for no limit.
        let is_none = self == Self::MemoryLimit && number >= i64::MAX as u64 - 0xffff;
        Some(if is_none { Value::Unlimited } else { Value::AtMost(number) })
    }

    fn io_bound(self, text: &str, device: Device, key: &str) -> Option<Value> {
        let Some(line) = line_of(text, device) else {
            return Some(Value::Unlimited);
        };
        let mut words = line.split_ascii_whitespace();
        self.bound(words.find_map(|word| word.strip_prefix(key))?)
    }
}

/// The rest of a device's line.
fn line_of(text: &str, device: Device) -> Option<&str> {
    let name = device.to_string();
    text.lines().find_map(|line| {
        let (first, rest) = line.split_once(' ')?;
        (first == name).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Device = Device { major: 8, minor: 16 };

    #[test]
    fn each_file_has_its_own_word_for_no_limit() {
        use LimitFile::*;
        for (file, unlimited, bound) in [
            (CpuQuota, "-1", "30000"),
            (CpuMax, "max", "30000"),
            (MemoryLimit, "-1", "30000"),
            (MemoryHigh, "max", "30000"),
            (MemoryMax, "max", "30000"),
            (ReadThrottle(DISK), "8:16 0", "8:16 30000"),
            (WriteThrottle(DISK), "8:16 0", "8:16 30000"),
            (IoMaxRead(DISK), "8:16 rbps=max", "8:16 rbps=30000"),
            (IoMaxWrite(DISK), "8:16 wbps=max", "8:16 wbps=30000"),
        ] {
            assert_eq!(file.text(Value::Unlimited), unlimited);
            assert_eq!(file.text(Value::AtMost(30_000)), bound);
            assert_eq!(file.lifted(), Value::Unlimited);
        }
        assert_eq!(CpuShares.text(CpuShares.lifted()), "1024");
        assert_eq!(CpuWeight.text(CpuWeight.lifted()), "100");
    }

    #[test]
    fn what_the_kernel_shows_is_read_back() {
        use LimitFile::*;
        let throttles = "8:0 5\n8:16 1048576\n";
        let io = "8:0 rbps=1 wbps=1 riops=max wiops=max\n8:16 rbps=7 wbps=max riops=max wiops=9\n";
        for (file, text, value) in [
            (CpuShares, "1024\n", Value::Weight(1024)),
            (CpuQuota, "-1\n", Value::Unlimited),
            (CpuMax, "max 100000\n", Value::Unlimited),
            (CpuMax, "30000 100000\n", Value::AtMost(30_000)),
            (MemoryLimit, "9223372036854771712\n", Value::Unlimited),
            (MemoryLimit, "4096\n", Value::AtMost(4096)),
            (MemoryMax, "max\n", Value::Unlimited),
            (ReadThrottle(DISK), throttles, Value::AtMost(1_048_576)),
            (ReadThrottle(DISK), "8:160 5\n", Value::Unlimited),
            (WriteThrottle(DISK), "", Value::Unlimited),
            (IoMaxRead(DISK), io, Value::AtMost(7)),
            (IoMaxWrite(DISK), io, Value::Unlimited),
        ] {
            assert_eq!(file.parse(text), Some(value), "{file:?} {text}");
        }
        assert_eq!(CpuQuota.parse("none"), None);
        assert_eq!(IoMaxRead(DISK).parse("8:16 riops=1"), None);
    }

    #[test]
    fn a_memory_limit_shows_as_the_whole_pages_below_it_and_any_other_value_as_itself() {
        use LimitFile::*;
        let (page, shown) = (page_bytes(), Value::AtMost(7 * page_bytes()));
        for (written, is_shown) in
            [(7 * page - 1, false), (7 * page, true), (8 * page - 1, true), (8 * page, false)]
        {
            for file in [MemoryLimit, MemoryHigh, MemoryMax] {
                let written = Value::AtMost(written);
                assert_eq!(file.shows_as(written, shown), is_shown, "{file:?} {written:?}");
            }
        }
        assert!(!CpuMax.shows_as(Value::AtMost(7 * page + 1), shown));
        assert!(!MemoryMax.shows_as(Value::Unlimited, shown));
    }

    #[test]
    fn weights_are_neither_looser_nor_tighter() {
        assert!(Value::Unlimited.is_looser_than(Value::AtMost(9)));
        assert!(Value::AtMost(9).is_looser_than(Value::AtMost(8)));
        assert!(!Value::Weight(9).is_looser_than(Value::Weight(8)));
        assert_eq!(Value::Unlimited.tighter(Value::AtMost(1)), Value::AtMost(1));
    }
}
