//! Runs of recurring applications, drawn from a seed. `docs/measurements/prediction.md` describes them and the
//! measured figures that they match.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The phases common to all runs of an application, before their variation.
#[derive(Debug, Clone)]
pub struct Application {
    phases: Vec<Phase>,
    length_s: f64,
    /// The largest ratio between the lengths of two runs.
    pub longest_over_shortest: f64,
    /// Whether a longer run does the same work more slowly (a disk is throttled), or more work.
    pub keeps_work: bool,
    random: Random,
}

/// A part of a run with about constant use.
#[derive(Debug, Clone)]
struct Phase {
    /// The phase's fraction of the run's length.
    part: f64,
    /// The mean use; for memory, the value at the end.
    level: Resources,
}

const CORES: f64 = 4.0;
const GB: f64 = 1e9;
const MB: f64 = 1e6;

/// Deviations of the logarithms of a phase's length and levels from run to run. Elasecutor's
/// Table IV has 2.6 % for a stage's time, 0.3 to 5.6 % for its levels at the median, and up to 13 %
/// at the 99th percentile.
const PHASE_LENGTH_DEVIATION: f64 = 0.05;
pub const LEVEL_DEVIATION: [f64; 4] = [0.02, 0.05, 0.06, 0.06];

/// Variation within a phase: the mean fraction of the cores that a slot leaves idle, and the deviations of the
/// logarithms of the other resources. Chosen so that the mean of two runs misses a third one as in the measurements.
const CPU_IDLE: f64 = 0.18;
const MEMORY_ROUGHNESS: f64 = 0.02;
const BURST_ROUGHNESS: f64 = 0.6;

impl Application {
    /// The application of this seed and number.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Random::new(seed, number);
        let mut phases = vec![Phase::start()];
        let peak_memory = random.between(2.0, 7.0) * GB;
        phases.push(Phase::load(&mut random, peak_memory));
        for _ in 0..random.index(4) + 1 {
            phases.push(Phase::compute(&mut random, peak_memory));
            phases.push(Phase::exchange(&mut random, peak_memory));
        }
        phases.push(Phase::write(&mut random, peak_memory));
        let whole: f64 = phases.iter().map(|phase| phase.part).sum();
        for phase in &mut phases {
            phase.part /= whole;
        }
        Self {
            phases,
            length_s: 65.0 * (325.0_f64 / 65.0).powf(random.unit()),
            longest_over_shortest: random.between(1.0, 2.0),
            keeps_work: random.unit() < 0.5,
            random,
        }
    }

    /// The next `count` runs, in slots of 3 s.
    ///
    /// # Errors
    /// Never with these levels.
    pub fn runs(&mut self, count: usize) -> Result<Vec<Demand>, DemandError> {
        (0..count).map(|_| self.run()).collect()
    }

    /// The next run, in slots of 3 s.
    ///
    /// # Errors
    /// Never with these levels.
    pub fn run(&mut self) -> Result<Demand, DemandError> {
        let random = &mut self.random;
        let stretch = self.longest_over_shortest.powf(random.unit() - 0.5);
        let slowdown = if self.keeps_work { stretch } else { 1.0 };
        let slot_s = f64::from(SLOT_MS) / 1e3;
        let mut slots = Vec::new();
        let (mut memory, mut end_s) = (0.3 * GB, 0.0);
        for phase in &self.phases {
            let length = random.log_normal(PHASE_LENGTH_DEVIATION);
            let begin = slots.len();
            end_s += self.length_s * stretch * phase.part * length;
            // A phase takes at least one slot, as in the agent's samples.
            let count = ((end_s / slot_s).round() as usize).saturating_sub(begin).max(1);
            let level = Resources::from_array(LEVEL_DEVIATION.map(|it| random.log_normal(it)))
                .zip(phase.level, |factor, level| factor * level);
            for at in 0..count {
                let done = (at + 1) as f64 / count as f64;
                let held = memory + (level.memory_bytes - memory) * done;
                let flowing = level * (1.0 / slowdown);
                let even = Resources { memory_bytes: held, ..flowing };
                let rough = Resources {
                    cpu_cores: 1.0 - random.exponential(CPU_IDLE).min(1.0),
                    memory_bytes: random.log_normal(MEMORY_ROUGHNESS),
                    network_bytes_per_s: random.log_normal(BURST_ROUGHNESS),
                    disk_bytes_per_s: random.log_normal(BURST_ROUGHNESS),
                };
                let used = even.zip(rough, |level, factor| level * factor);
                slots.push(Resources { cpu_cores: used.cpu_cores.min(CORES), ..used });
            }
            memory = level.memory_bytes;
        }
        Demand::series(SLOT_MS, &slots)
    }
}

impl Phase {
    /// The start of the JVM and of the framework.
    fn start() -> Self {
        Self::new(0.08, [1.2, 0.6 * GB, 0.2 * MB, 4.0 * MB])
    }

    fn load(random: &mut Random, peak_memory: f64) -> Self {
        let disk = random.between(30.0, 120.0) * MB;
        Self::new(
            random.between(0.1, 0.3),
            [random.between(1.5, 3.0), 0.8 * peak_memory, 1.0 * MB, disk],
        )
    }

    fn compute(random: &mut Random, peak_memory: f64) -> Self {
        let memory = random.between(0.85, 1.0) * peak_memory;
        let cores = random.between(2.5, 4.0);
        Self::new(
            random.between(0.1, 0.3),
            [cores, memory, 0.3 * MB, random.between(0.5, 3.0) * MB],
        )
    }

    fn exchange(random: &mut Random, peak_memory: f64) -> Self {
        let memory = random.between(0.8, 0.95) * peak_memory;
        let network = random.between(40.0, 250.0) * MB;
        let disk = random.between(5.0, 80.0) * MB;
        Self::new(random.between(0.02, 0.06), [random.between(0.8, 2.0), memory, network, disk])
    }

    fn write(random: &mut Random, peak_memory: f64) -> Self {
        let disk = random.between(20.0, 80.0) * MB;
        Self::new(
            random.between(0.05, 0.1),
            [random.between(0.5, 1.5), 0.7 * peak_memory, 3.0 * MB, disk],
        )
    }

    fn new(part: f64, level: [f64; 4]) -> Self {
        let level = Resources::from_array(level);
        Self { part, level }
    }
}

/// Random numbers that are the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// One stream of a seed for each number.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(number);
        Self(generator)
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        const BITS: u32 = f64::MANTISSA_DIGITS;
        (self.0.next_u64() >> (64 - BITS)) as f64 / (1_u64 << BITS) as f64
    }

    /// From `least` to below `most`.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// From 0 to below `items`.
    pub fn index(&mut self, items: usize) -> usize {
        (self.unit() * items as f64) as usize
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A log-normal factor of mean 1; `deviation` is that of its logarithm.
    pub fn log_normal(&mut self, deviation: f64) -> f64 {
        // The Box–Muller transform.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
        (deviation * normal - deviation * deviation / 2.0).exp()
    }
}
