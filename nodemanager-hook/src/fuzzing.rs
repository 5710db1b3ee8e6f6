//! What the fuzz targets read by; built for them only.

use std::{fs, os::unix::fs::symlink, path::Path, time::Instant};

use crate::{
    actuators::LimitFile,
    cgroups::{Controller, Hierarchies, Version},
    container_id::ContainerId,
    sensors::{Device, GroupFile, HeldFile, NodeSensor, ProcFs, pressure},
};

const PID: u32 = 10;
const OF_A_PROCESS: [&str; 5] = ["stat", "statm", "io", "status", "cgroup"];
const OF_THE_NODE: [&str; 6] = [
    "stat",
    "meminfo",
    "diskstats",
    "pressure/cpu",
    "pressure/memory",
    "pressure/io",
];
const OF_A_GROUP: [&str; 4] = ["cpuacct.usage", "cpu.stat", "memory.stat", "io.stat"];

/// A folder in which every file of the kernel that the agent reads holds the same bytes.
#[derive(Debug)]
pub struct KernelFiles<'a> {
    folder: &'a Path,
}

impl<'a> KernelFiles<'a> {
    /// Makes the files in an empty folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn make(folder: &'a Path) -> std::io::Result<Self> {
        let bytes = folder.join("bytes");
        fs::write(&bytes, "")?;
        let process = PID.to_string();
        for (name, files) in [
            (process.as_str(), &OF_A_PROCESS[..]),
            ("", &OF_THE_NODE[..]),
            ("group", &OF_A_GROUP[..]),
        ] {
            for file in files {
                let path = folder.join(name).join(file);
                fs::create_dir_all(path.parent().unwrap_or(folder))?;
                symlink(&bytes, path)?;
            }
        }
        Ok(Self { folder })
    }

    /// Reads all of them as the agent does; nothing may panic.
    pub fn read(&self, bytes: &[u8]) {
        if fs::write(self.folder.join("bytes"), bytes).is_err() {
            return;
        }
        let proc = ProcFs::new(self.folder);
        let _ = proc.process(PID);
        let _ = proc.memory(PID, &mut HeldFile::default());
        let _ = proc.disk_bytes(PID, &mut HeldFile::default());
        let _ = proc.users(PID);
        let _ = proc.cgroup(PID);
        let disks = [Device { major: 8, minor: 0 }];
        let _ = NodeSensor::new(disks.to_vec()).read(&proc, Instant::now());
        let _ = pressure(&proc);
        let group = self.folder.join("group");
        for version in [Version::One, Version::Two] {
            for name in OF_A_GROUP {
                if let Ok(file) = GroupFile::open(&group, name, version) {
                    let _ = file.cpu_nanoseconds();
                    let _ = file.pids();
                    let _ = file.throttling();
                    let _ = file.memory();
                    let _ = file.disk(&disks);
                }
            }
        }
        read_text(&String::from_utf8_lossy(bytes));
    }
}

fn read_text(text: &str) {
    let hierarchies = Hierarchies::discover(text, |_| text.to_owned());
    for controller in Controller::ALL {
        if let Some(hierarchy) = hierarchies.serving(controller) {
            let _ = hierarchy.directory_of(text);
        }
    }
    let _ = text.parse::<ContainerId>();
    for device in LimitFile::devices_in(text) {
        for file in LimitFile::of_device(device) {
            let _ = file.parse(text);
        }
    }
    for file in LimitFile::of_any_device() {
        // What is written for a value is read as that value.
        if let Some(value) = file.parse(text) {
            assert_eq!(file.parse(&file.text(value)), Some(value));
        }
    }
}
