//! The throughput of the disks behind the local directories, as far as the kernel knows. The agent
//! does not measure: a measurement would take time from the users of the disk.

use std::{fs, path::Path};

use super::{Device, Disks};

/// Sequential throughput of current rotating disks, at least.
const ROTATING_BYTES_PER_S: u64 = 150_000_000;
/// The usable part of SATA's 6 Gbit/s, which SATA flash disks fill.
const SATA_BYTES_PER_S: u64 = 550_000_000;

impl Disks {
    /// The sum over these disks; `None` if one is unknown. Disks of virtual machines and mapped
    /// devices are unknown.
    ///
    /// `cpuinfo` is the text of `/proc/cpuinfo`.
    pub fn bytes_per_s(&self, devices: &[Device], cpuinfo: &str) -> Option<u64> {
        if devices.is_empty() || is_virtual_machine(cpuinfo) {
            return None;
        }
        let speeds: Option<Vec<u64>> = devices.iter().map(|device| self.speed(*device)).collect();
        Some(speeds?.iter().copied().fold(0, u64::saturating_add))
    }

    fn speed(&self, device: Device) -> Option<u64> {
        // The path names the bus of the disk.
        let disk = fs::canonicalize(self.directory(device)).ok()?;
        let is_on = |bus: &str| {
            let mut parts = disk.iter().filter_map(|part| part.to_str());
            parts.any(|part| part.strip_prefix(bus).is_some_and(is_number))
        };
        let is_rotating = read(&disk.join("queue/rotational"))? == "1";
        if is_on("nvme") {
            let controller = disk.join("device/device");
            let speed = read(&controller.join("current_link_speed"))?;
            return link_bytes_per_s(&speed, &read(&controller.join("current_link_width"))?);
        }
        let is_disk = disk.join("device").exists();
        match (is_rotating, is_on("ata")) {
            (true, _) if is_disk => Some(ROTATING_BYTES_PER_S),
            (false, true) => Some(SATA_BYTES_PER_S),
            _ => None,
        }
    }
}

/// Throughput of a PCI Express link, such as `8.0 GT/s PCIe`, with a number of lanes.
pub fn link_bytes_per_s(speed: &str, lanes: &str) -> Option<u64> {
    let giga_transfers_per_s: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: u32 = lanes.parse().ok()?;
    // A transfer is one bit on each lane; the line code uses some of the bits.
    let data_part = if giga_transfers_per_s < 8.0 { 8.0 / 10.0 } else { 128.0 / 130.0 };
    let bytes_per_s = giga_transfers_per_s * 1e9 * data_part / 8.0 * f64::from(lanes);
    (bytes_per_s > 0.0).then_some(bytes_per_s as u64)
}

pub fn is_virtual_machine(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.any(|line| line.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const CPUINFO: &str = "processor : 0\nflags : fpu vme\n";

    /// A recorded `/sys` with these disks: numbers, place and `rotational`.
    fn recorded(disks: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        fs::create_dir_all(sys.path().join("dev/block")).unwrap();
        for (numbers, place, rotational) in disks {
            let disk = sys.path().join("devices").join(place);
            fs::create_dir_all(disk.join("queue")).unwrap();
            fs::write(disk.join("queue/rotational"), format!("{rotational}\n")).unwrap();
            if !place.contains("virtual") {
                let controller = disk.join("device/device");
                fs::create_dir_all(&controller).unwrap();
                fs::write(controller.join("current_link_speed"), "8.0 GT/s PCIe\n").unwrap();
                fs::write(controller.join("current_link_width"), "4\n").unwrap();
            }
            symlink(disk, sys.path().join("dev/block").join(numbers)).unwrap();
        }
        sys
    }

    #[test]
    fn a_disk_has_the_throughput_of_its_kind_or_its_link() {
        let sys = recorded(&[
            ("8:0", "pci/ata1/host0/block/sda", "1"),
            ("8:16", "pci/ata2/host1/block/sdb", "0"),
            ("259:0", "pci/nvme/nvme0/nvme0n1", "0"),
            ("253:0", "virtual/block/dm-0", "1"),
            ("8:32", "pci/host2/block/sdc", "0"),
        ]);
        let disks = Disks::new(sys.path());
        let speed = |numbers: &[&str]| {
            let devices: Vec<Device> = numbers.iter().map(|one| one.parse().unwrap()).collect();
            disks.bytes_per_s(&devices, CPUINFO)
        };
        assert_eq!(speed(&["8:0"]), Some(150_000_000));
        assert_eq!(speed(&["8:0", "8:16"]), Some(700_000_000));
        assert_eq!(speed(&["259:0"]), Some(3_938_461_538));
        for unknown in [&["253:0"][..], &["8:32"], &["8:0", "253:0"], &["9:9"], &[]] {
            assert_eq!(speed(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn disks_of_a_virtual_machine_are_unknown() {
        let sys = recorded(&[("8:0", "pci/ata1/host0/block/sda", "1")]);
        let virtual_machine = "flags : fpu hypervisor vme\n";
        let disk = ["8:0".parse().unwrap()];
        let disks = Disks::new(sys.path());
        assert_eq!(disks.bytes_per_s(&disk, virtual_machine), None);
    }

    #[test]
    fn impossible_link_speeds_do_not_overflow() {
        let places =
            [("259:0", "pci/nvme/nvme0/nvme0n1", "0"), ("259:1", "pci/nvme/nvme1/nvme1n1", "0")];
        let sys = recorded(&places);
        for (_, place, _) in places {
            let disk = sys.path().join("devices").join(place);
            fs::write(disk.join("device/device/current_link_speed"), "1e300 GT/s").unwrap();
        }
        let devices = places.map(|(numbers, ..)| numbers.parse().unwrap());
        let sum = Disks::new(sys.path()).bytes_per_s(&devices, CPUINFO);
        assert_eq!(sum, Some(u64::MAX));
    }

    #[test]
    fn eight_of_ten_bits_of_an_old_link_carry_data() {
        assert_eq!(link_bytes_per_s("5.0 GT/s PCIe", "2"), Some(1_000_000_000));
        assert_eq!(link_bytes_per_s("Unknown", "4"), None);
        assert_eq!(link_bytes_per_s("8.0 GT/s PCIe", "0"), None);
    }
}
