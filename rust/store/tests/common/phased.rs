//! Series of runs as they are, for what they take.

use elastane_core::Resources;
use elastane_runs::{ContainerKind, RunSeries};

/// Of an application master and eight executors: phases of 30 s, with noise on CPU and disk and now and
/// then on the network.
pub fn phased_series(seed: u64, slots: usize) -> Vec<RunSeries> {
    let mut state = seed;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let mut series = |kind, containers| RunSeries {
        stage_ends_ms: Vec::new(),
        kind,
        containers,
        slots: (0..slots)
            .map(|slot| {
                let phase = (slot / 10 % 4) as f64;
                let network = if noise() < 0.2 { 2e7 * noise() } else { 0.0 };
                Resources::from_array([
                    0.5 * phase + 0.3 * noise(),
                    1e9 + 1e8 * phase + 1e6 * noise(),
                    network,
                    phase * 1e7 * noise(),
                ])
            })
            .collect(),
    };
    vec![series(ContainerKind::ApplicationMaster, 1), series(ContainerKind::DEFAULT_EXECUTOR, 8)]
}
