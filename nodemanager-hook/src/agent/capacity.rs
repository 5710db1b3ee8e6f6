//! The physical size of the node.

use elastane_protocol::Capacity;
use nix::unistd::{SysconfVar, sysconf};

use crate::config;

/// The configured capacity, or else the kernel's. Not `available_parallelism`: the agent's own quota
/// and affinity do not make the node smaller.
pub(super) fn capacity(configured: &config::Capacity, meminfo: &str) -> Capacity {
    let online = || {
        let count = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten();
        count.unwrap_or(1) as f32
    };
    Capacity {
        cpu_cores: configured.cpu_cores.unwrap_or_else(online),
        memory_bytes: configured
            .memory_bytes
            .unwrap_or_else(|| total_memory_bytes(meminfo).unwrap_or(0)),
        network_bytes_per_s: configured.network_bytes_per_s.unwrap_or(0),
        disk_bytes_per_s: configured.disk_bytes_per_s.unwrap_or(0),
    }
}

fn total_memory_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_configured_one_or_else_the_kernels() {
        let meminfo = "MemTotal:       16384 kB\nMemFree: 1 kB\n";
        let detected = capacity(&config::Capacity::default(), meminfo);
        assert_eq!(detected.memory_bytes, 16384 * 1024);
        assert!(detected.cpu_cores >= 1.0);
        let configured = config::Capacity {
            cpu_cores: Some(2.5),
            memory_bytes: Some(7),
            network_bytes_per_s: Some(8),
            disk_bytes_per_s: Some(9),
        };
        let capacity = capacity(&configured, meminfo);
        assert_eq!((capacity.cpu_cores, capacity.memory_bytes), (2.5, 7));
        assert_eq!((capacity.network_bytes_per_s, capacity.disk_bytes_per_s), (8, 9));
    }
}
