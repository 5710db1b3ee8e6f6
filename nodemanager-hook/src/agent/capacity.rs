//! The physical size of the node.

use elastane_protocol::Capacity;
use nix::unistd::{SysconfVar, sysconf};

use crate::config;

/// The configured capacity, or else the detected one.
pub(super) fn capacity(configured: &config::CapacityConfig, detected: Capacity) -> Capacity {
    let config::CapacityConfig { cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s } =
        *configured;
    Capacity {
        cpu_cores: cpu_cores.unwrap_or(detected.cpu_cores),
        memory_bytes: memory_bytes.unwrap_or(detected.memory_bytes),
        network_bytes_per_s: network_bytes_per_s.unwrap_or(detected.network_bytes_per_s),
        disk_bytes_per_s: disk_bytes_per_s.unwrap_or(detected.disk_bytes_per_s),
    }
}

/// Not `available_parallelism`: the agent's own quota and affinity do not make the node smaller.
pub(super) fn online_cores() -> f32 {
    sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten().unwrap_or(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_configured_one_or_else_the_kernels() {
        let kernels = Capacity {
            cpu_cores: online_cores(),
            memory_bytes: 16384 * 1024,
            ..Capacity::default()
        };
        let detected = capacity(&config::CapacityConfig::default(), kernels);
        assert_eq!(detected.memory_bytes, 16384 * 1024);
        assert!(detected.cpu_cores >= 1.0);
        let configured = config::CapacityConfig {
            cpu_cores: Some(2.5),
            memory_bytes: Some(7),
            network_bytes_per_s: Some(8),
            disk_bytes_per_s: Some(9),
        };
        let capacity = capacity(&configured, kernels);
        assert_eq!((capacity.cpu_cores, capacity.memory_bytes), (2.5, 7));
        assert_eq!((capacity.network_bytes_per_s, capacity.disk_bytes_per_s), (8, 9));
    }
}
