//! Runs of one application with different settings, drawn from a seed. `docs/measurements/new-settings.md`
//! describes them.
//!
//! A run is first drawn as a run of a recurring application (`generated_runs`), with its variation. Then its
//! settings change its length and its totals.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use elastane_predict::{Settings, amount};

use crate::runs::{Application, LEVEL_DEVIATION, Random};

const GB: f64 = 1e9;

/// The settings that leave a run of the recurring application unchanged.
const USUAL: [f64; 4] = [10.0 * GB, 6.0, 2.0, 10.0];

/// An application whose amounts follow its settings.
pub struct Configurable {
    application: Application,
    /// The totals of a run at the usual settings; for memory, the mean.
    totals: Resources,
    /// The part of a run that no setting changes: the start of JVMs and the framework.
    fixed: f64,
    /// The exponent of the input in the work.
    growth: f64,
    /// The exponents of executors and of cores in the speed-up; 1 is linear.
    sharing: [f64; 2],
    /// The part of the work that grows with the iterations.
    repeated: f64,
    /// The part of the memory that grows with the data.
    data: f64,
    random: Random,
}

/// The factors by which settings change one executor's run; 1 at the usual settings.
struct Factors {
    length: f64,
    totals: Resources,
}

impl Configurable {
    /// The application of this seed and number.
    ///
    /// # Errors
    /// Never with these amounts.
    pub fn new(seed: u64, number: u64) -> Result<Self, DemandError> {
        // Separate streams, so that runs do not depend on the number of drawn settings.
        let mut random = Random::new(seed, number + (1 << 32));
        let mut application = Application::new(seed, number);
        // The settings decide the amount of work; a run that is slow for another reason, such as a throttled
        // disk, does the same work.
        application.keeps_work = true;
        Ok(Self {
            totals: usual_totals(&mut application.clone())?,
            application,
            fixed: random.between(0.05, 0.2),
            growth: random.between(0.8, 1.1),
            sharing: [random.between(0.7, 1.0), random.between(0.5, 0.9)],
            repeated: random.between(0.3, 0.9),
            data: random.between(0.2, 0.7),
            random,
        })
    }

    /// The next run: its settings and the use of one executor.
    ///
    /// # Errors
    /// Never with these amounts.
    pub fn run(&mut self) -> Result<(Settings, Demand), DemandError> {
        let random = &mut self.random;
        let given = [
            GB * 2.0 * 25.0_f64.powf(random.unit()),
            (2 + random.index(11)) as f64,
            (1 + random.index(5)) as f64,
            (5 + random.index(16)) as f64,
        ];
        let varies = Resources::from_array(LEVEL_DEVIATION.map(|it| random.log_normal(it)));
        let factors = self.factors(given);
        let used = self.application.run()?;
        let names = ["input_bytes", "executors", "executor_cores", "--iterations"];
        let settings = names.map(str::to_owned).into_iter().zip(given).collect();
        let totals = self.totals.zip(varies, |total, varies| total * varies);
        let totals = totals.zip(factors.totals, |total, factor| total * factor);
        Ok((Settings(settings), scaled(&used, factors.length, totals)?))
    }

    fn factors(&self, given: [f64; 4]) -> Factors {
        let [input, executors, cores, iterations] = std::array::from_fn(|at| given[at] / USUAL[at]);
        let work = input.powf(self.growth) * (1.0 - self.repeated + self.repeated * iterations);
        let share = work / executors;
        let with_fixed = |part: f64| self.fixed + (1.0 - self.fixed) * part;
        // With n executors, (n − 1) / n of the exchanged data is on another executor.
        let elsewhere = |executors: f64| 1.0 - 1.0 / executors;
        let remote = elsewhere(given[1]) / elsewhere(USUAL[1]);
        let held = (input / executors).min(2.0);
        Factors {
            length: with_fixed(
                work / executors.powf(self.sharing[0]) / cores.powf(self.sharing[1]),
            ),
            totals: Resources {
                cpu_cores: with_fixed(share),
                // A level, not a total.
                memory_bytes: 1.0 - self.data + self.data * held,
                network_bytes_per_s: share * remote,
                disk_bytes_per_s: with_fixed(input / executors),
            },
        }
    }
}

/// The mean of some runs.
fn usual_totals(application: &mut Application) -> Result<Resources, DemandError> {
    const RUNS: usize = 16;
    let runs = application.runs(RUNS)?;
    let sum = runs.iter().fold(Resources::ZERO, |sum, run| sum + totals(run));
    Ok(sum * (1.0 / RUNS as f64))
}

/// The totals of a run; for memory, the mean.
fn totals(run: &Demand) -> Resources {
    let all = amount(run);
    let length_s = run.slots().len() as f64 * f64::from(run.slot_ms()) / 1e3;
    Resources { memory_bytes: all.memory_bytes / length_s, ..all }
}

/// The run stretched by `longer` and scaled to the totals `wanted`.
fn scaled(used: &Demand, longer: f64, wanted: Resources) -> Result<Demand, DemandError> {
    let count = used.slots().len();
    let slots = ((count as f64 * longer).round() as usize).max(4);
    let step = count as f64 / slots as f64;
    let stretched: Vec<Resources> = (0..slots)
        .map(|at| between(used.slots(), at as f64 * step, (at + 1) as f64 * step))
        .collect();
    let had = totals(&Demand::series(SLOT_MS, &stretched)?);
    let factors = wanted.zip(had, |wanted, had| if had > 0.0 { wanted / had } else { 0.0 });
    let slots: Vec<Resources> =
        stretched.into_iter().map(|slot| slot.zip(factors, |used, factor| used * factor)).collect();
    Demand::series(SLOT_MS, &slots)
}

/// The mean between two positions, in slots.
fn between(slots: &[Resources], from: f64, to: f64) -> Resources {
    let mut sum = Resources::ZERO;
    for (at, slot) in slots.iter().enumerate().skip(from as usize).take(to.ceil() as usize) {
        let overlap = (at as f64 + 1.0).min(to) - (at as f64).max(from);
        sum += *slot * overlap.max(0.0);
    }
    sum * (1.0 / (to - from))
}
