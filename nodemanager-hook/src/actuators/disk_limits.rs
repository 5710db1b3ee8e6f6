//! Disk limits as kernel files: the cap holds for reads and for writes, on each device.

use crate::{
    actuators::{LimitFile, Setting, Value},
    sensors::Device,
};

/// The smallest cap written. 0 means no limit in version 1, and a process that waits for a
/// throttled disk cannot be killed until its turn comes.
const MIN_BYTES_PER_S: u64 = 64 * 1024;

pub fn disk_v1(cap_bytes_per_s: u64, devices: &[Device]) -> Vec<Setting> {
    capped(cap_bytes_per_s, devices, |device| {
        [LimitFile::ReadThrottle(device), LimitFile::WriteThrottle(device)]
    })
}

pub fn disk_v2(cap_bytes_per_s: u64, devices: &[Device]) -> Vec<Setting> {
    capped(cap_bytes_per_s, devices, |device| {
        [LimitFile::IoMaxRead(device), LimitFile::IoMaxWrite(device)]
    })
}

fn capped(
    cap_bytes_per_s: u64,
    devices: &[Device],
    files: impl Fn(Device) -> [LimitFile; 2],
) -> Vec<Setting> {
    let cap = Value::AtMost(cap_bytes_per_s.max(MIN_BYTES_PER_S));
    let files = devices.iter().flat_map(|device| files(*device));
    files.map(|file| (file, cap)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISKS: [Device; 2] = [Device { major: 8, minor: 0 }, Device { major: 254, minor: 3 }];

    fn texts(settings: &[Setting]) -> Vec<String> {
        let text = |(file, value): &Setting| format!("{} {}", file.name(), file.text(*value));
        settings.iter().map(text).collect()
    }

    #[test]
    fn reading_and_writing_are_capped_on_each_device() {
        assert_eq!(
            texts(&disk_v1(1_000_000, &DISKS)),
            [
                "blkio.throttle.read_bps_device 8:0 1000000",
                "blkio.throttle.write_bps_device 8:0 1000000",
                "blkio.throttle.read_bps_device 254:3 1000000",
                "blkio.throttle.write_bps_device 254:3 1000000",
            ]
        );
        assert_eq!(
            texts(&disk_v2(1_000_000, &DISKS[..1])),
            ["io.max 8:0 rbps=1000000", "io.max 8:0 wbps=1000000"]
        );
    }

    #[test]
    fn a_cap_of_0_becomes_the_smallest_cap() {
        let least = Value::AtMost(MIN_BYTES_PER_S);
        assert!(disk_v1(0, &DISKS).iter().all(|(_, value)| *value == least));
        assert!(disk_v2(0, &DISKS).iter().all(|(_, value)| *value == least));
    }
}
