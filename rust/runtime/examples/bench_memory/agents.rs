//! The reports of nodes.

use elastane_core::cluster::{NodeId, Request};
use elastane_protocol::{
    CanLimit, Capacity, ContainerSamples, Report, Sample, Usage, VERSION, encode,
};
use elastane_runtime::Elastane;

use crate::Outcome;
use crate::scene::ROUND_MS;

const GB: u64 = 1 << 30;
pub const NODE: Request = Request { memory_bytes: 64 * GB, vcores: 32 };

/// A node with its containers.
pub struct Node {
    pub name: String,
    pub id: NodeId,
    pub containers: Vec<String>,
}

impl Node {
    /// Each container used something since the last report. `sequence` grows with each.
    pub fn report(&self, elastane: &Elastane, sequence: u64, now_ms: i64) -> Outcome<()> {
        let sample = |place: usize| Sample {
            sequence,
            age_ms: 0,
            length_ms: ROUND_MS as u32,
            usage: Usage {
                cpu_cores: (sequence + place as u64) as f32 % 7.0 / 4.0,
                memory_bytes: GB + ((place as u64 % 16) << 24),
                disk_read_bytes_per_s: 1_000_000,
                ..Usage::default()
            },
        };
        let samples = self.containers.iter().enumerate().map(|(place, container)| {
            let samples = vec![sample(place)];
            ContainerSamples { container: container.clone(), limits: None, stages: None, samples }
        });
        let report = Report {
            agent_run: 1,
            sequence,
            can_limit: CanLimit {
                cpu: true,
                memory: true,
                disk: true,
                network_sent: true,
                network_received: true,
            },
            capacity: Capacity {
                cpu_cores: 32.0,
                memory_bytes: NODE.memory_bytes,
                network_bytes_per_s: 1_000_000_000,
                disk_bytes_per_s: 500_000_000,
            },
            containers_usage: Usage::default(),
            node_usage: Usage::default(),
            pressure: None,
            memory_victims: Vec::new(),
            decommissioned: Vec::new(),
            containers: samples.collect(),
        };
        elastane.report(&self.name, VERSION, &encode(&report)?, now_ms)?;
        Ok(())
    }
}
