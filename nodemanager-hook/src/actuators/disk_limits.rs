//! Disk limits as kernel files: the cap holds for reads and for writes, on each device.

use crate::{
    actuators::{LimitFile, Value},
    cgroups::Version,
    sensors::Device,
};

/// The smallest cap written. 0 means no limit in version 1, and a process that waits for a
/// throttled disk cannot be killed until its turn comes.
const MIN_BYTES_PER_S: u64 = 64 * 1024;

pub fn disk_files(version: Version, devices: &[Device]) -> Vec<LimitFile> {
    let files = |device: &Device| match version {
        Version::One => [LimitFile::ReadThrottle(*device), LimitFile::WriteThrottle(*device)],
        Version::Two => [LimitFile::IoMaxRead(*device), LimitFile::IoMaxWrite(*device)],
    };
    devices.iter().flat_map(files).collect()
}

pub fn disk_cap(cap_bytes_per_s: u64) -> Value {
    Value::AtMost(cap_bytes_per_s.max(MIN_BYTES_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISKS: [Device; 2] = [Device { major: 8, minor: 0 }, Device { major: 254, minor: 3 }];

    fn texts(version: Version, devices: &[Device]) -> Vec<String> {
        let cap = disk_cap(1_000_000);
        let text = |file: LimitFile| format!("{} {}", file.name(), file.text(cap));
        disk_files(version, devices).into_iter().map(text).collect()
    }

    #[test]
    fn reading_and_writing_are_capped_on_each_device() {
        assert_eq!(
            texts(Version::One, &DISKS),
            [
                "blkio.throttle.read_bps_device 8:0 1000000",
                "blkio.throttle.write_bps_device 8:0 1000000",
                "blkio.throttle.read_bps_device 254:3 1000000",
                "blkio.throttle.write_bps_device 254:3 1000000",
            ]
        );
        assert_eq!(
            texts(Version::Two, &DISKS[..1]),
            ["io.max 8:0 rbps=1000000", "io.max 8:0 wbps=1000000"]
        );
    }

    #[test]
    fn a_cap_of_0_becomes_the_smallest_cap() {
        assert_eq!(disk_cap(0), Value::AtMost(MIN_BYTES_PER_S));
    }
}
