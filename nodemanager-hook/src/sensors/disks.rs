//! The block devices behind directories.

use std::{
    fmt, fs, io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    str::FromStr,
};

use nix::sys::stat::{major, minor};
use serde::{Deserialize, Serialize};

use super::with_path;

/// The numbers of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Device {
    pub major: u32,
    pub minor: u32,
}

/// The disks of this host. The root of `/sys` is a parameter, so that tests can read recorded
/// trees.
#[derive(Debug, Clone)]
pub struct Disks {
    sys: PathBuf,
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for Device {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.split_once(':').ok_or(())?;
        Ok(Self { major: major.parse().map_err(drop)?, minor: minor.parse().map_err(drop)? })
    }
}

impl From<u64> for Device {
    fn from(number: u64) -> Self {
        // The kernel's numbers have 12 and 20 bits.
        Self { major: major(number) as u32, minor: minor(number) as u32 }
    }
}

impl Disks {
    pub fn new(sys: &Path) -> Self {
        Self { sys: sys.into() }
    }

    /// The whole disk behind a directory: limits apply to disks, not to partitions. A missing
    /// directory counts as its closest existing ancestor. Fails for a file system without a device.
    pub fn behind(&self, directory: &Path, mountinfo: &str) -> io::Result<Device> {
        let there = directory.ancestors().find(|above| above.exists());
        let there = there.ok_or(io::ErrorKind::NotFound)?;
        let device = Device::from(fs::metadata(there)?.dev());
        let device = match device.major {
            // Some file systems, such as btrfs, have device numbers of their own.
            0 => source_of(device, mountinfo)
                .and_then(|name| self.named(name).or_else(|| in_dev(name)))
                .ok_or_else(|| io::Error::other("no block device stands behind its file system"))?,
            _ => device,
        };
        self.whole(device)
    }

    /// The disk of a partition, or the device itself.
    fn whole(&self, device: Device) -> io::Result<Device> {
        let directory = self.directory(device);
        if !directory.join("partition").exists() {
            return Ok(device);
        }
        // The directory of a partition lies in the directory of its disk.
        let partition = fs::canonicalize(&directory)?;
        numbers_of(partition.parent().unwrap_or(&partition))
    }

    /// The block device of a name, by `/sys`: a service with `PrivateDevices=yes` does not see the
    /// host's devices in `/dev`.
    fn named(&self, name: &str) -> Option<Device> {
        let all = self.sys.join("class/block");
        if let Some(mapped) = name.strip_prefix("mapper/") {
            let entries = fs::read_dir(all).ok()?.flatten();
            let mut devices = entries.map(|entry| entry.path());
            let has_name = |device: &PathBuf| {
                let held = fs::read_to_string(device.join("dm/name"));
                held.is_ok_and(|held| held.trim() == mapped)
            };
            return numbers_of(&devices.find(has_name)?).ok();
        }
        // The kernel's names have `!` instead of a slash.
        numbers_of(&all.join(name.replace('/', "!"))).ok()
    }

    /// The disks that are neither partitions nor made of other disks or of memory.
    pub fn physical(&self) -> Vec<Device> {
        let entries = fs::read_dir(self.sys.join("dev/block"));
        let devices = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let is_physical = entry.path().join("device").exists();
            let device = entry.file_name().to_str()?.parse().ok()?;
            is_physical.then_some(device)
        });
        devices.collect()
    }

    pub(super) fn directory(&self, device: Device) -> PathBuf {
        self.sys.join("dev/block").join(device.to_string())
    }
}

/// The numbers in a device's directory in `/sys`.
fn numbers_of(directory: &Path) -> io::Result<Device> {
    let path = directory.join("dev");
    let numbers = fs::read_to_string(&path).map_err(|error| with_path(error, path.display()))?;
    let numbers = numbers.trim();
    let malformed = || format!("{}: `{numbers}` is not a device", path.display());
    numbers.parse().map_err(|()| io::Error::other(malformed()))
}

/// The source of the mount with these device numbers, without `/dev/`.
fn source_of(device: Device, mountinfo: &str) -> Option<&str> {
    let numbers = device.to_string();
    let source = mountinfo.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let is_mount = mount.split(' ').nth(2) == Some(numbers.as_str());
        is_mount.then(|| file_system.split(' ').nth(1)).flatten()
    })?;
    source.strip_prefix("/dev/")
}

/// Finds links in `/dev`, which `/sys` does not know.
fn in_dev(name: &str) -> Option<Device> {
    let node = fs::metadata(Path::new("/dev").join(name)).ok()?;
    let is_block_device = node.file_type().is_block_device();
    is_block_device.then(|| Device::from(node.rdev()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A recorded `/sys` with the disk 8:0 and its partition 8:1, and a mapped device 253:0.
    fn recorded() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("devices/pci/block/sda");
        let numbers = sys.path().join("dev/block");
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::create_dir_all(disk.join("device")).unwrap();
        fs::create_dir_all(sys.path().join("devices/virtual/block/dm-0")).unwrap();
        fs::create_dir_all(&numbers).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(disk.join("sda1/dev"), "8:1\n").unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        let mapped = sys.path().join("devices/virtual/block/dm-0");
        fs::create_dir_all(mapped.join("dm")).unwrap();
        fs::write(mapped.join("dm/name"), "group-volume\n").unwrap();
        fs::write(mapped.join("dev"), "253:0\n").unwrap();
        let names = sys.path().join("class/block");
        fs::create_dir_all(&names).unwrap();
        for (name, device) in [
            ("sda", "pci/block/sda"),
            ("sda1", "pci/block/sda/sda1"),
            ("dm-0", "virtual/block/dm-0"),
            ("cciss!c0d0", "pci/block/sda"),
        ] {
            let target = sys.path().join("devices").join(device);
            symlink(target, names.join(name)).unwrap();
        }
        for (name, device) in [
            ("8:0", "pci/block/sda"),
            ("8:1", "pci/block/sda/sda1"),
            ("253:0", "virtual/block/dm-0"),
        ] {
            let target = sys.path().join("devices").join(device);
            symlink(target, numbers.join(name)).unwrap();
        }
        sys
    }

    fn device(text: &str) -> Device {
        text.parse().unwrap()
    }

    #[test]
    fn a_partition_stands_for_its_disk_and_a_mapped_device_for_itself() {
        let sys = recorded();
        let disks = Disks::new(sys.path());
        for (part, whole) in [("8:1", "8:0"), ("8:0", "8:0"), ("253:0", "253:0")] {
            assert_eq!(disks.whole(device(part)).unwrap(), device(whole));
        }
        assert_eq!(disks.physical(), [device("8:0")]);
    }

    /// A mount as of btrfs, with the device numbers of `/proc`.
    fn mounted_from(source: &str) -> String {
        let device = Device::from(fs::metadata("/proc").unwrap().dev());
        format!(
            "24 1 0:999 / /sys rw - sysfs sysfs rw\n\
             25 1 {device} /@data /data rw,noatime shared:7 - btrfs {source} rw,subvol=/@data\n"
        )
    }

    #[test]
    fn a_file_system_with_device_numbers_of_its_own_is_on_its_source() {
        // None of these devices is in `/dev`, as under `PrivateDevices=yes`.
        let sys = recorded();
        let disks = Disks::new(sys.path());
        for (source, disk) in [
            ("/dev/sda1", "8:0"),
            ("/dev/sda", "8:0"),
            ("/dev/cciss/c0d0", "8:0"),
            ("/dev/mapper/group-volume", "253:0"),
            ("/dev/dm-0", "253:0"),
        ] {
            let found = disks.behind(Path::new("/proc"), &mounted_from(source));
            assert_eq!(found.unwrap(), device(disk), "{source}");
        }
        for source in
            ["pool/data", "sda1", "/dev/sdz", "/dev/mapper/other", "/dev/../sda", "/dev/null"]
        {
            let found = disks.behind(Path::new("/proc"), &mounted_from(source));
            assert!(found.is_err(), "{source}");
        }
    }

    #[test]
    fn a_file_system_without_a_device_is_an_error() {
        let disks = Disks::new(Path::new("/sys"));
        let error = disks.behind(Path::new("/proc"), "").unwrap_err();
        assert!(error.to_string().contains("no block device"), "{error}");
    }

    #[test]
    fn device_numbers_are_parsed_and_printed() {
        assert_eq!(device("254:3").to_string(), "254:3");
        for text in ["254", "254:", ":3", "a:b", "1:2:3"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
