//! A group's usage files, held open between readings.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
};

use super::{Device, HeldMemory, proc_fs::page_bytes, with_path};
use crate::cgroups::Version;

/// Longer than most of these files; a longer file takes a second call.
const MOSTLY_BYTES: usize = 4096;

/// Of `memory.stat`: anonymous, mapped, shared and all file memory, and version 2's memory of the kernel.
const MEMORY_V1: [&str; 11] =
    ["total_rss", "total_mapped_file", "total_shmem", "total_cache", "", "", "", "", "", "", ""];
const MEMORY_V2: [&str; 11] = [
    "anon",
    "file_mapped",
    "shmem",
    "file",
    "sock",
    "kernel",
    "slab_reclaimable",
    "kernel_stack",
    "pagetables",
    "percpu",
    "slab_unreclaimable",
];

/// Time for which a cap throttled a group. Both values are upper bounds: the times of all CPUs add
/// up, and a period counts as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThrottledTime {
    pub periods: u64,
    pub nanoseconds: u64,
}

/// Bytes since the start of the group or process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskTraffic {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

impl DiskTraffic {
    pub fn add(&mut self, other: Self) {
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }
}

#[derive(Debug)]
pub struct GroupFile {
    path: PathBuf,
    file: File,
    version: Version,
}

impl GroupFile {
    pub fn open(group: &Path, name: &str, version: Version) -> io::Result<Self> {
        let path = group.join(name);
        let opened = File::open(&path).map_err(|error| with_path(error, path.display()));
        Ok(Self { file: opened?, path, version })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of a file of one number.
    pub fn number(&self) -> io::Result<u64> {
        self.read(|text| text.trim().parse().ok())
    }

    /// CPU time from `cpuacct.usage` of version 1 or `cpu.stat` of version 2.
    pub fn cpu_nanoseconds(&self) -> io::Result<u64> {
        match self.version {
            Version::One => self.number(),
            Version::Two => self.read(|text| {
                let [microseconds] = values_of(text, ["usage_usec"]);
                microseconds?.checked_mul(1000)
            }),
        }
    }

    /// Throttling from `cpu.stat`; 0 where the kernel supports no cap.
    pub fn throttling(&self) -> io::Result<ThrottledTime> {
        self.read(|text| {
            let (key, unit) = match self.version {
                Version::One => ("throttled_time", 1),
                Version::Two => ("throttled_usec", 1000),
            };
            let [periods, time] = values_of(text, ["nr_throttled", key]);
            Some(ThrottledTime {
                periods: periods.unwrap_or(0),
                nanoseconds: time.unwrap_or(0).saturating_mul(unit),
            })
        })
    }

    /// Memory from `memory.stat`, descendants included. In version 1 that does not have the kernel's memory.
    pub fn memory(&self) -> io::Result<HeldMemory> {
        let keys = match self.version {
            Version::One => MEMORY_V1,
            Version::Two => MEMORY_V2,
        };
        self.read(|text| {
            let [anonymous_bytes, mapped_bytes, shared_bytes, file_bytes, of_kernel @ ..] =
                values_of(text, keys);
            // Mapped files and files in memory cannot be reclaimed. The two overlap by an unknown
            // amount, so that the larger one counts.
            let unreclaimable_bytes = mapped_bytes?.max(shared_bytes.unwrap_or(0));
            let of_processes = anonymous_bytes?.checked_add(unreclaimable_bytes)?;
            Some(HeldMemory {
                resident_bytes: of_processes.checked_add(kernel_bytes(of_kernel, page_bytes()))?,
                anonymous_bytes: anonymous_bytes?,
                file_bytes: file_bytes?,
                ..HeldMemory::default()
            })
        })
    }

    /// Traffic of these disks from `io.stat` of version 2. The file also counts the traffic of a
    /// mapped device for its disks.
    pub fn disk(&self, disks: &[Device]) -> io::Result<DiskTraffic> {
        self.read(|text| {
            let mut sum = DiskTraffic::default();
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            let counts = |device: &str| device.parse().is_ok_and(|one| disks.contains(&one));
            for (_, values) in lines.filter(|(device, _)| counts(device)) {
                for word in values.split_ascii_whitespace() {
                    let total = match word.split_once('=')? {
                        ("rbytes", bytes) => (&mut sum.read_bytes, bytes),
                        ("wbytes", bytes) => (&mut sum.written_bytes, bytes),
                        _ => continue,
                    };
                    *total.0 = total.0.saturating_add(total.1.parse().ok()?);
                }
            }
            Some(sum)
        })
    }

    /// The pids in `cgroup.procs` of version 2, in ascending order. In version 1 an open file
    /// repeats its first list, so it is not read here.
    pub fn pids(&self) -> io::Result<Vec<u32>> {
        let mut text = Vec::with_capacity(256);
        let mut part = [0; MOSTLY_BYTES];
        loop {
            let count = self.read_at(&mut part, text.len())?;
            text.extend_from_slice(&part[..count]);
            // The kernel gives as many lines as fit, so that only the last part is this short.
            if count < part.len() / 2 {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        pids.sort_unstable();
        Ok(pids)
    }

    fn read_at(&self, part: &mut [u8], offset: usize) -> io::Result<usize> {
        let read = self.file.read_at(part, offset as u64);
        read.map_err(|error| with_path(error, self.path.display()))
    }

    /// Fails with ENODEV after the removal of the group.
    pub fn read<T>(&self, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
        let mut part = [0; MOSTLY_BYTES];
        let mut length = self.read_at(&mut part, 0)?;
        let mut longer = Vec::new();
        // The kernel gives the one record as a whole: nothing follows a short read.
        if length == part.len() {
            while length > 0 {
                longer.extend_from_slice(&part[..length]);
                length = self.read_at(&mut part, longer.len())?;
            }
        }
        let bytes = if longer.is_empty() { &part[..length] } else { &longer };
        let text = String::from_utf8_lossy(bytes);
        parse(&text).ok_or_else(|| {
            let start: String = text.chars().take(40).collect();
            let (path, start) = (self.path.display(), start.escape_default());
            let reason = format!("{path}: `{start}` is not as expected");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }
}

impl AsFd for GroupFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What the kernel holds for a group of version 2 and cannot reclaim while its processes run, such as page tables, stacks and
/// the buffers of sockets. Since Linux 5.18 `kernel` is the sum of all but these buffers.
fn kernel_bytes(values: [Option<u64>; 7], page_bytes: u64) -> u64 {
    let [buffers, kernel, reclaimable, parts @ ..] = values;
    let sum = || parts.into_iter().flatten().fold(0, u64::saturating_add);
    let kernel = kernel.map(|all| all.saturating_sub(reclaimable.unwrap_or(0)));
    let all = kernel.unwrap_or_else(sum).saturating_add(buffers.unwrap_or(0));
    // Limits, which follow this, are whole pages.
    all.checked_next_multiple_of(page_bytes).unwrap_or(all)
}

/// The numbers after these keys at the starts of lines; the first line with a key counts.
fn values_of<const N: usize>(text: &str, keys: [&str; N]) -> [Option<u64>; N] {
    let mut values = [None; N];
    for (key, number) in text.lines().filter_map(|line| line.split_once(' ')) {
        if let Some(at) = keys.iter().position(|one| *one == key)
            && values[at].is_none()
        {
            values[at] = number.trim().parse().ok();
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(version: Version, text: &str) -> GroupFile {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), text).unwrap();
        GroupFile::open(directory.path(), "file", version).unwrap()
    }

    #[test]
    fn each_version_has_its_own_names_and_units() {
        let v1 = file(Version::One, "5000\n");
        assert_eq!(v1.cpu_nanoseconds().unwrap(), 5000);
        let stat = "nr_periods 9\nnr_throttled 4\nthrottled_time 7000\n";
        let throttled = ThrottledTime { periods: 4, nanoseconds: 7000 };
        let v1 = file(Version::One, stat);
        assert_eq!(v1.throttling().unwrap(), throttled);
        let stat = "usage_usec 5\nuser_usec 3\nnr_periods 9\nnr_throttled 4\nthrottled_usec 7\n";
        let v2 = file(Version::Two, stat);
        assert_eq!(v2.cpu_nanoseconds().unwrap(), 5000);
        assert_eq!(v2.throttling().unwrap(), throttled);
        let without_controller = file(Version::Two, "usage_usec 5\n");
        let none = without_controller.throttling().unwrap();
        assert_eq!(none, ThrottledTime::default());
    }

    #[test]
    fn resident_memory_is_anonymous_mapped_or_in_memory_only_and_file_is_all_cache() {
        let held = HeldMemory {
            resident_bytes: 12,
            anonymous_bytes: 10,
            file_bytes: 30,
            ..HeldMemory::default()
        };
        let own = "cache 1\nrss 1\nmapped_file 1\n";
        let v1 = format!("{own}total_cache 30\ntotal_rss 10\ntotal_mapped_file 2\n");
        assert_eq!(file(Version::One, &v1).memory().unwrap(), held);
        let v2 = "anon 10\nfile 30\nfile_mapped 2\n";
        assert_eq!(file(Version::Two, v2).memory().unwrap(), held);
        let in_memory = "anon 10\nfile 30\nfile_mapped 2\nshmem 25\n";
        let held = file(Version::Two, in_memory).memory().unwrap();
        assert_eq!(held.resident_bytes, 35);
        let of_kernel =
            "kernel 9000\nkernel_stack 1\npagetables 2\nsock 50\nslab_reclaimable 4954\n";
        let held = file(Version::Two, &format!("{in_memory}{of_kernel}")).memory().unwrap();
        assert_eq!((held.resident_bytes, held.anonymous_bytes), (35 + page_bytes(), 10));
        let before_5_18 = "kernel_stack 4096\npagetables 4096\npercpu 4096\nsock 4096\n\
                           slab_reclaimable 4096\nslab_unreclaimable 4000\nslab 8096\n";
        let held = file(Version::Two, &format!("{in_memory}{before_5_18}")).memory().unwrap();
        assert_eq!(held.resident_bytes, 35 + (5 * 4096 - 96_u64).next_multiple_of(page_bytes()));
        let error = file(Version::Two, "anon ten\n").memory().unwrap_err();
        assert!(error.to_string().ends_with(": `anon ten\\n` is not as expected"));
    }

    #[test]
    fn memory_of_the_kernel_is_whole_pages_of_any_size() {
        let [buffers, kernel, reclaimable] = [Some(50), Some(9000), Some(4954)];
        let values = [buffers, kernel, reclaimable, None, None, None, None];
        for page in [4 << 10, 64 << 10] {
            assert_eq!(kernel_bytes(values, page), page);
        }
    }

    #[test]
    fn a_file_of_any_length_is_read_to_its_end() {
        for lines in [0, 300, 1000] {
            let others: String = (0..lines).map(|n| format!("other_{n:04} 1\n")).collect();
            let text = format!("{others}usage_usec 5\n");
            let cpu_time = file(Version::Two, &text).cpu_nanoseconds();
            assert_eq!(cpu_time.unwrap(), 5000, "{} bytes", text.len());
        }
        let text = format!("{:x>4080} 1\nusage_usec 7\n", "");
        assert_eq!(text.len(), MOSTLY_BYTES);
        assert_eq!(file(Version::Two, &text).cpu_nanoseconds().unwrap(), 7000);
    }

    #[test]
    fn any_number_of_processes_is_listed_in_order() {
        let text: String = (1..=3000).rev().map(|pid| format!("{pid}\n")).collect();
        let pids = file(Version::Two, &text).pids().unwrap();
        assert!(pids.iter().copied().eq(1..=3000));
    }

    #[test]
    fn traffic_is_summed_over_the_given_devices() {
        let text = "8:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n\
                    253:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n\
                    254:0 rbytes=5 wbytes=7 rios=1 wios=1 dbytes=0 dios=0\n8:16 \n";
        let disks = ["8:0", "254:0"].map(|device| device.parse().unwrap());
        let traffic = file(Version::Two, text).disk(&disks);
        let expected = DiskTraffic { read_bytes: 15, written_bytes: 27 };
        assert_eq!(traffic.unwrap(), expected);
        let none = file(Version::Two, "").disk(&disks);
        assert_eq!(none.unwrap(), DiskTraffic::default());
    }
}
