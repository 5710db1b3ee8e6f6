//! Restrictions in a group's files, of either version.

use std::{fs, path::Path};

use self::Unrestricted::{Absent, Bytes, Each, First, Is};
use crate::actuators::{KernelFileError, read_text};

/// From this number on, version 1 means no limit. It prints the largest multiple of a page below 2^63; huge pages have
/// up to 1 GiB.
const UNLIMITED_FROM: u64 = (1 << 63) - (1 << 30);

/// The text of a file in a new group, which restricts nothing.
#[derive(Debug, Clone, Copy)]
enum Unrestricted {
    Is(&'static str),
    /// The first word.
    First(&'static str),
    /// The value of each `KEY=VALUE` or `VALUE` after a line's first word.
    Each(&'static str),
    Absent,
    /// Version 1: a number of bytes that is none.
    Bytes,
}

/// The files that restrict processes of a group, with their text in a new group. They are those of
/// `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/` in the kernel's sources; one that gives only, as
/// `cpu.max.burst` does, is not among them.
const FILES: &[(&str, Unrestricted)] = &[
    // Version 2.
    ("cgroup.freeze", Is("0")),
    ("cpu.idle", Is("0")),
    ("cpu.max", First("max")),
    ("cpu.uclamp.max", Is("max")),
    ("cpu.uclamp.min", Is("0.00")),
    ("cpu.weight", Is("100")),
    ("cpuset.cpus.partition", Is("member")),
    ("dmem.low", Each("0")),
    ("dmem.max", Each("max")),
    ("dmem.min", Each("0")),
    ("io.bfq.weight", Is("default 100")),
    ("io.latency", Absent),
    ("io.max", Absent),
    ("io.prio.class", Is("no-change")),
    ("io.weight", Is("default 100")),
    ("memory.high", Is("max")),
    ("memory.low", Is("0")),
    ("memory.max", Is("max")),
    ("memory.min", Is("0")),
    ("memory.oom.group", Is("0")),
    ("memory.swap.high", Is("max")),
    ("memory.swap.max", Is("max")),
    ("memory.zswap.max", Is("max")),
    ("misc.max", Each("max")),
    ("rdma.max", Each("max")),
    // Both.
    ("cpuset.cpus", Absent),
    ("cpuset.mems", Absent),
    ("pids.max", Is("max")),
    // Version 1.
    ("blkio.bfq.weight", Is("100")),
    ("blkio.throttle.read_bps_device", Absent),
    ("blkio.throttle.read_iops_device", Absent),
    ("blkio.throttle.write_bps_device", Absent),
    ("blkio.throttle.write_iops_device", Absent),
    ("blkio.weight", Is("500")),
    ("blkio.weight_device", Absent),
    ("cpu.cfs_quota_us", Is("-1")),
    ("cpu.rt_runtime_us", Is("0")),
    ("cpu.shares", Is("1024")),
    ("devices.list", Is("a *:* rwm")),
    ("freezer.state", Is("THAWED")),
    ("memory.kmem.limit_in_bytes", Bytes),
    ("memory.kmem.tcp.limit_in_bytes", Bytes),
    ("memory.limit_in_bytes", Bytes),
    ("memory.memsw.limit_in_bytes", Bytes),
    ("memory.oom_control", First("oom_kill_disable 0")),
    ("memory.soft_limit_in_bytes", Bytes),
    ("net_cls.classid", Is("0")),
    ("net_prio.ifpriomap", Each("0")),
];

/// The first file of a group that restricts its processes, with its value, among those whose names begin so.
pub fn restriction_of(group: &Path, prefix: &str) -> Result<Option<String>, KernelFileError> {
    let unreadable = |error| KernelFileError::new("list", group, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(group).map_err(unreadable)? {
        names.extend(entry.map_err(unreadable)?.file_name().into_string());
    }
    names.sort_unstable();
    for name in names.into_iter().filter(|name| name.starts_with(prefix)) {
        let Some(unrestricted) = unrestricted(&name) else {
            continue;
        };
        let text = read_text(&group.join(&name))?;
        if !unrestricted.allows(text.trim()) {
            let value: Vec<&str> = text.split_ascii_whitespace().collect();
            return Ok(Some(format!("{name} is {}", value.join(" "))));
        }
    }
    Ok(None)
}

fn unrestricted(name: &str) -> Option<Unrestricted> {
    if let Some(of_pages) = name.strip_prefix("hugetlb.") {
        return match of_pages.rsplit_once('.') {
            Some((_, "max")) => Some(Is("max")),
            Some((_, "limit_in_bytes")) => Some(Bytes),
            _ => None,
        };
    }
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, unrestricted)| *unrestricted)
}

impl Unrestricted {
    fn allows(self, text: &str) -> bool {
        match self {
            Is(expected) => text == expected,
            First(start) => {
                let rest = text.strip_prefix(start);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
            }
            Each(expected) => text
                .lines()
                .flat_map(|line| line.split_ascii_whitespace().skip(1))
                .all(|word| word.rsplit('=').next() == Some(expected)),
            Absent => text.is_empty(),
            Bytes => text.parse().is_ok_and(|bytes: u64| bytes >= UNLIMITED_FROM),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_group_restricts_nothing_and_each_file_can() {
        for (name, new, restricted) in [
            ("cpu.max", "max 100000\n", "50000 100000\n"),
            ("cpu.weight", "100\n", "20\n"),
            ("cpuset.cpus", "\n", "0-3\n"),
            ("devices.list", "a *:* rwm\n", "c 1:3 rwm\nc 1:5 rwm\n"),
            ("hugetlb.2MB.limit_in_bytes", "9223372036852678656\n", "2097152\n"),
            ("hugetlb.1GB.rsvd.max", "max\n", "0\n"),
            ("io.max", "", "8:16 rbps=2097152 wbps=max riops=max wiops=max\n"),
            ("io.weight", "default 100\n", "default 100\n8:16 50\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n", "1073741824\n"),
            (
                "memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
                "oom_kill_disable 1\nunder_oom 0\noom_kill 0\n",
            ),
            ("misc.max", "res_a max\nres_b max\n", "res_a max\nres_b 4\n"),
            ("net_prio.ifpriomap", "lo 0\neth0 0\n", "lo 0\neth0 10\n"),
            ("pids.max", "max\n", "15000\n"),
            (
                "rdma.max",
                "mlx4_0 hca_handle=max hca_object=max\n",
                "mlx4_0 hca_handle=2 hca_object=max\n",
            ),
        ] {
            let group = tempfile::tempdir().unwrap();
            fs::write(group.path().join("memory.stat"), "anon 5\n").unwrap();
            fs::write(group.path().join(name), new).unwrap();
            assert_eq!(restriction_of(group.path(), "").unwrap(), None, "{name}");
            fs::write(group.path().join(name), restricted).unwrap();
            let found = restriction_of(group.path(), "").unwrap();
            let value: Vec<&str> = restricted.split_ascii_whitespace().collect();
            assert_eq!(found, Some(format!("{name} is {}", value.join(" "))));
        }
    }

    #[test]
    fn a_group_that_is_gone_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let error = restriction_of(&directory.path().join("gone"), "").unwrap_err();
        assert!(error.is_gone(), "{error}");
    }
}
