//! The four kinds of application whose executors Elasecutor measured.

use elastane_core::cluster::Request;
use elastane_core::{Demand, DemandError, Resource, Resources, SLOT_MS};
use elastane_sim::workload::{ApplicationSpec, Errors, GIB, GIGABIT_PER_S, MEGABYTE_PER_S};

use super::series::{SeriesStatistics, generate};

/// The shortest life of an executor: the start of a JVM and of Spark.
const LEAST_SLOTS: usize = 10;

/// A kind of application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Reads, shuffles once, writes.
    Terasort,
    /// Loads, then iterates over what is cached.
    KMeans,
    /// As k-means, with a large exchange in each iteration.
    LogisticRegression,
    /// Iterates over a graph, with one large shuffle.
    PageRank,
}

/// The statistics that Elasecutor published of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassStatistics {
    /// Table II, in the order of [`Resource::ALL`].
    pub variation: [SeriesStatistics; 4],
    /// Figure 2: the peaks of an executor of 3 cores and 8 GB.
    pub peak: Resources,
    /// Table I: the input of the run that was measured, in GB.
    pub input_gb: f64,
    /// The length of that run, in slots: the shortest at which Table II's percentages are whole slots,
    /// within their rounding.
    pub slots: usize,
}

/// Table II, row by row as [`SeriesStatistics::of_row`] takes them.
type Rows = [[f64; 4]; 4];

const TERASORT: Rows = [
    [1.8, 60.0, 22.4, 36.5],
    [1.7, 3.3, 1.5, 67.0],
    [6.2, 237.0, 1.5, 10.3],
    [1.5, 6.1, 10.7, 73.2],
];
const K_MEANS: Rows = [
    [1.7, 75.0, 15.4, 51.9],
    [1.2, 6.0, 3.9, 90.4],
    [11.5, 53.0, 1.9, 5.8],
    [5.6, 100.0, 1.9, 13.5],
];
const LOGISTIC_REGRESSION: Rows = [
    [2.1, 50.0, 15.0, 40.4],
    [1.4, 12.0, 3.7, 91.0],
    [5.5, 409.6, 0.6, 19.5],
    [6.1, 42.5, 6.8, 11.3],
];
const PAGE_RANK: Rows = [
    [3.9, 50.0, 1.5, 23.0],
    [1.3, 11.5, 21.8, 84.0],
    [20.2, 119.0, 0.2, 2.5],
    [9.1, 50.0, 0.8, 7.1],
];

impl Class {
    /// Every class.
    pub const ALL: [Class; 4] =
        [Class::Terasort, Class::KMeans, Class::LogisticRegression, Class::PageRank];

    /// The published statistics.
    pub fn statistics(self) -> ClassStatistics {
        let (variation, [memory_gb, network_gbps, disk_mb_s], input_gb, slots) = match self {
            Class::Terasort => (TERASORT, [5.9, 2.4, 181.0], 32.0, 67),
            Class::KMeans => (K_MEANS, [6.8, 0.53, 103.0], 37.4, 52),
            Class::LogisticRegression => (LOGISTIC_REGRESSION, [6.5, 4.0, 170.0], 37.3, 162),
            Class::PageRank => (PAGE_RANK, [6.1, 0.62, 96.0], 2.8, 520),
        };
        ClassStatistics {
            variation: variation.map(SeriesStatistics::of_row),
            peak: Resources {
                cpu_cores: 3.0,
                memory_bytes: memory_gb * GIB,
                network_bytes_per_s: network_gbps * GIGABIT_PER_S,
                disk_bytes_per_s: disk_mb_s * MEGABYTE_PER_S,
            },
            input_gb,
            slots,
        }
    }

    /// Slots of a run on an input of this size, in proportion to the measured run.
    pub(super) fn slots_for(self, input_gb: f64) -> usize {
        let statistics = self.statistics();
        let slots = statistics.slots as f64 * input_gb / statistics.input_gb;
        (slots.round() as usize).max(LEAST_SLOTS)
    }

    /// The use of one executor over `slots`, of each resource as a part of its peak.
    pub fn shape(self, slots: usize) -> Vec<Resources> {
        let variation = self.statistics().variation;
        let columns = Resource::ALL.map(|resource| {
            let statistics = variation[resource as usize];
            generate(statistics, slots, |life| self.intensity(resource, life))
        });
        (0..slots)
            .map(|slot| Resources::from_array(std::array::from_fn(|at| columns[at][slot])))
            .collect()
    }

    /// A value that orders the moments of an executor's life (0 to 1) by the use of a resource.
    fn intensity(self, resource: Resource, life: f64) -> f64 {
        match (self, resource) {
            (Class::Terasort, Resource::Cpu) => {
                hump(life, 0.25, 0.2).max(0.9 * hump(life, 0.75, 0.2))
            }
            (Class::Terasort, Resource::Memory) => hump(life, 0.7, 0.6),
            (Class::Terasort, Resource::Network) => hump(life, 0.5, 0.1),
            (Class::Terasort, Resource::Disk) => {
                hump(life, 0.2, 0.3).max(0.95 * hump(life, 0.85, 0.3))
            }
            (_, Resource::Memory) => life.min(0.3) + 0.01 * pulse(life, self.iterations()),
            (Class::PageRank, Resource::Network) => {
                hump(life, 0.35, 0.05).max(0.5 * pulse(life + 0.02, self.iterations()))
            }
            (Class::PageRank, Resource::Disk) => {
                hump(life, 0.03, 0.05).max(0.6 * pulse(life + 0.03, self.iterations()))
            }
            (_, Resource::Disk) => 1.0 - life,
            (_, Resource::Cpu) => pulse(life, self.iterations()) - loading(life),
            (_, Resource::Network) => {
                pulse(life + 0.5 / self.iterations(), self.iterations()) - loading(life)
            }
        }
    }

    fn iterations(self) -> f64 {
        match self {
            Class::Terasort => 1.0,
            Class::KMeans => 5.0,
            Class::PageRank => 8.0,
            Class::LogisticRegression => 10.0,
        }
    }
}

/// An application whose executors all have the demand `actual`, which is also its prediction.
pub(super) fn application(
    name: String,
    size: ExecutorSize,
    executors: u32,
    actual: Demand,
    errors: Errors,
) -> ApplicationSpec {
    ApplicationSpec {
        name,
        queue: 0,
        user: String::new(),
        submitted_ms: 0,
        deadline_ms: None,
        executors,
        request: size.request(),
        predicted: Some(actual.clone()),
        actual,
        lengths: None,
        errors,
    }
}

/// A shape with these peaks.
pub(super) fn scaled(shape: &[Resources], peak: Resources) -> Result<Demand, DemandError> {
    let slots = shape.iter().map(|slot| slot.zip(peak, |part, peak| part * peak));
    Demand::series(SLOT_MS, &slots.collect::<Vec<_>>())
}

/// The request of an executor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExecutorSize {
    pub(super) cores: u32,
    pub(super) memory_bytes: f64,
}

impl ExecutorSize {
    /// Elasecutor's sizes: 2 GB per core, from 1 to 5 cores.
    pub(super) fn elasecutor(cores: u32) -> Self {
        Self { cores, memory_bytes: 2.0 * GIB * f64::from(cores) }
    }

    fn request(self) -> Request {
        Request { memory_bytes: self.memory_bytes as u64, vcores: self.cores }
    }

    /// Figure 2's peaks scaled to this size: memory by the requested memory, the others by cores.
    pub(super) fn peak(self, class: Class) -> Resources {
        const MEASURED_CORES: f64 = 3.0;
        const MEASURED_MEMORY_BYTES: f64 = 8.0 * GIB;
        let measured = class.statistics().peak;
        Resources {
            memory_bytes: measured.memory_bytes * self.memory_bytes / MEASURED_MEMORY_BYTES,
            ..measured * (f64::from(self.cores) / MEASURED_CORES)
        }
    }
}

/// A triangle: 1 at the center, 0 at a distance of `width` and beyond.
fn hump(life: f64, center: f64, width: f64) -> f64 {
    (1.0 - (life - center).abs() / width).max(0.0)
}

/// `count` equal pulses over a life.
fn pulse(life: f64, count: f64) -> f64 {
    0.5 - 0.5 * (std::f64::consts::TAU * life * count).cos()
}

/// High at the start, while the input is loaded and nothing is computed.
fn loading(life: f64) -> f64 {
    2.0 * hump(life, 0.0, 0.1)
}
