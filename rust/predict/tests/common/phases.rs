//! A run of three phases.

use elastane_core::Resources;

/// Loads from disk, computes, writes: 60 slots, or more of them at less speed.
pub fn run(slowdown: f64) -> Vec<Resources> {
    let slots = (60.0 * slowdown) as usize;
    (0..slots)
        .map(|slot| {
            let progress = slot as f64 / slots as f64;
            let [cpu, memory, network, disk] = match progress {
                0.0..0.3 => [1.0, 1e9 + 6e9 * progress, 0.0, 80e6],
                0.3..0.8 => [3.5, 3e9, 1e6, 0.0],
                _ => [1.5, 2e9, 0.0, 40e6],
            };
            let flows = Resources::from_array([cpu, 0.0, network, disk]) * (1.0 / slowdown);
            Resources { memory_bytes: memory, ..flows }
        })
        .collect()
}

pub const IDLE: Resources = Resources::from_array([0.01, 0.2e9, 0.0, 0.0]);
