//! Elasecutor's mix (section VI-A): 120 recurring and 12 new applications on 35 machines.

use crate::random::{Draw, Purpose, Random};
use elastane_core::{DemandError, Resources};
use elastane_sim::workload::{ApplicationSpec, Errors, TRACE_MACHINE, Workload};

use super::class::{self, Class, ExecutorSize, scaled};

pub(super) const MACHINES: usize = 35;
pub(super) const MEAN_ARRIVAL_S: f64 = 25.0;
const NEW_APPLICATIONS: usize = 12;
const NEW_ARRIVE_WITHIN_S: f64 = 3_200.0;
pub(super) const LARGEST_EXECUTOR_CORES: u32 = 5;

/// The paper does not publish the number of executors of an application. With 120 cores for each
/// application, a run of about 6 hours has about 7,000 executors.
pub(super) const CORES_PER_APPLICATION: u32 = 120;

/// Table III, with the class of Table II that stands for each. The paper measured four of the eight;
/// each of the others gets the class with the most similar stages.
const APPLICATIONS: [(&str, Class, [f64; 3]); 8] = [
    ("Sort", Class::Terasort, [3.1, 30.6, 286.8]),
    ("WordCount", Class::Terasort, [3.1, 30.6, 305.9]),
    ("Terasort", Class::Terasort, [3.2, 32.0, 320.0]),
    ("Bayes", Class::KMeans, [1.8, 3.5, 70.1]),
    ("K-means", Class::KMeans, [3.7, 18.7, 37.4]),
    ("LR", Class::LogisticRegression, [7.5, 22.4, 37.3]),
    ("PageRank", Class::PageRank, [0.0017, 0.2479, 2.8]),
    ("NWeight", Class::PageRank, [0.0375, 0.2945, 2.7]),
];

pub(super) const HEARTBEAT_MS: i64 = 3_000;

/// Applications on Elasecutor's machines.
pub(super) fn on_machines(name: &str, applications: Vec<ApplicationSpec>) -> Workload {
    Workload {
        name: name.to_owned(),
        machines: vec![TRACE_MACHINE; MACHINES],
        heartbeat_ms: HEARTBEAT_MS,
        queues: Vec::new(),
        applications,
        masters: Vec::new(),
    }
}

/// How runs of one application differ: Table IV, the medians.
pub(super) const RECURRING: Errors =
    Errors { slot: Resources::from_array([0.003, 0.056, 0.042, 0.029]), length: 0.026 };

/// Maximum relative error of predictions for new settings: the predicted total is then within 15 %
/// for 90 % of the executors, as in Figure 9a.
const NEW_AMOUNTS_OFF: f64 = 0.1;
const NEW_LENGTH_OFF: f64 = 0.05;

pub(super) fn generate(seed: u64) -> Result<Workload, DemandError> {
    let mut random = Random::new(seed, Purpose::Workload);
    let mut recurring = Vec::new();
    for (name, class, inputs_gb) in APPLICATIONS {
        for (dataset, input_gb) in inputs_gb.into_iter().enumerate() {
            let shape = class.shape(class.slots_for(input_gb));
            for cores in 1..=LARGEST_EXECUTOR_CORES {
                let name = format!("{name}-{}-{cores}c", dataset + 1);
                recurring.push(application(name, class, cores, &shape)?);
            }
        }
    }
    random.shuffle(&mut recurring);
    poisson(&mut recurring, MEAN_ARRIVAL_S, &mut random);
    let mut applications = recurring;
    for number in 0..NEW_APPLICATIONS {
        applications.push(new(number, &mut random)?);
    }
    Ok(on_machines("elasecutor", applications).sorted())
}

/// Sets Poisson arrivals, the first at 0.
pub(super) fn poisson(applications: &mut [ApplicationSpec], mean_s: f64, random: &mut Random) {
    let mut at_s = 0.0;
    for application in applications {
        application.submitted_ms = (at_s * 1e3) as i64;
        at_s += random.exponential(mean_s);
    }
}

fn application(
    name: String,
    class: Class,
    cores: u32,
    shape: &[Resources],
) -> Result<ApplicationSpec, DemandError> {
    let executors = CORES_PER_APPLICATION / cores;
    let size = ExecutorSize::elasecutor(cores);
    let actual = scaled(shape, size.peak(class))?;
    Ok(class::application(name, size, executors, actual, RECURRING))
}

/// A known application on an input of another size.
fn new(number: usize, random: &mut Random) -> Result<ApplicationSpec, DemandError> {
    let (name, class, [smallest_gb, _, largest_gb]) =
        APPLICATIONS[random.index(APPLICATIONS.len())];
    let input_gb = random.between(smallest_gb.ln(), largest_gb.ln()).exp();
    let cores = 1 + random.index(LARGEST_EXECUTOR_CORES as usize) as u32;
    let name = format!("{name}-new{}-{cores}c", number + 1);
    let slots = class.slots_for(input_gb);
    let actual = application(name, class, cores, &class.shape(slots))?;

    let amounts = random.between(1.0 - NEW_AMOUNTS_OFF, 1.0 + NEW_AMOUNTS_OFF);
    let length = random.between(1.0 - NEW_LENGTH_OFF, 1.0 + NEW_LENGTH_OFF);
    let predicted_slots = (slots as f64 * length).round() as usize;
    let peak = ExecutorSize::elasecutor(cores).peak(class) * amounts;
    Ok(ApplicationSpec {
        submitted_ms: (random.between(0.0, NEW_ARRIVE_WITHIN_S) * 1e3) as i64,
        predicted: Some(scaled(&class.shape(predicted_slots), peak)?),
        ..actual
    })
}
