//! The sensitivity of the main figures to the parameters of the contention model, to the errors of
//! predictions, and to parameters that the papers do not publish.

use elastane_core::{DemandError, Resource};
use elastane_sim::simulator::Contention;
use elastane_sim::workload::Errors;

use super::claim::{Measure, Time};
use super::setup::{Change, Setup};
use super::{Lineup, elasecutor, prophet};
use crate::variation::{Variation, variation};
use crate::workload::Class;

/// Figures of a workload under several changes.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// What runs under each change.
    pub lineup: Lineup,
    /// The figures of interest.
    pub measures: &'static [Measure],
    /// One change at a time; the first changes nothing.
    pub variations: &'static [&'static [Variation<Change>]],
}

/// Elasecutor and Prophet.
pub const STUDIES: [Study; 2] = [
    Study {
        lineup: elasecutor::LINEUP,
        measures: &[
            elasecutor::CUT_OF_BEST,
            Measure::BoundBelowBest(elasecutor::BASELINES),
            Measure::Cut(Time::Makespan, "minfrag", "tetris"),
            Measure::Cut(Time::Makespan, "minfrag", "trc"),
        ],
        variations: &[AS_IT_IS, MODEL, PREDICTIONS, ELASECUTORS_SETUP],
    },
    Study {
        lineup: Lineup {
            workload: "prophet",
            policies: &["capacity"],
            variants: prophet::VARIANTS,
        },
        measures: &[
            Measure::Cut(Time::Makespan, "prophet", "capacity"),
            Measure::Cut(Time::MedianCompletion, "prophet", "capacity"),
            Measure::Cut(Time::Makespan, "prophet", prophet::WITHOUT_BACKOFF),
        ],
        variations: &[AS_IT_IS, MODEL, PREDICTIONS, PROPHETS_SETUP],
    },
];

type Variations = &'static [Variation<Change>];

const AS_IT_IS: Variations = &[variation("as it is", "", Change::NONE)];

/// The contention model.
const MODEL: Variations = &[
    model("network_loss", "0", |it| it.network_loss = 0.0),
    model("network_loss", "0.4", |it| it.network_loss = 0.4),
    model("disk_loss", "0", |it| it.disk_loss = 0.0),
    model("disk_loss", "0.8", |it| it.disk_loss = 0.8),
    model("spill_slowdown", "2", |it| it.spill_slowdown = 2.0),
    model("spill_slowdown", "50", |it| it.spill_slowdown = 50.0),
    model("kill_above", "1.1", |it| it.kill_above = 1.1),
    model("kill_above", "3", |it| it.kill_above = 3.0),
];

/// Errors of predictions.
const PREDICTIONS: Variations = &[
    set("errors", "none", errors::<0>),
    set("errors", "20 % a slot, 10 % in length", errors::<20>),
    set("errors", "40 % a slot, 20 % in length", errors::<40>),
];

/// Parameters that Elasecutor does not publish.
const ELASECUTORS_SETUP: Variations = &[
    set("starvation_wait", "60 s", |it| it.settings.cluster.starvation_wait_ms = 60_000),
    set("containers a heartbeat", "16", |it| it.settings.assignments_per_heartbeat = 16),
    set("heartbeat", "1 s", |it| it.workload.heartbeat_ms = 1_000),
    set("disk", "750 MB/s", |it| it.scale_machines(Resource::Disk, 1.5)),
    set("disk", "1,000 MB/s", |it| it.scale_machines(Resource::Disk, 2.0)),
    compute("WordCount", "taken for K-means", |it| {
        it.take_for("WordCount", [Class::Terasort, Class::KMeans])
    }),
    set("memory", "32 GB", |it| it.scale_machines(Resource::Memory, 0.5)),
    set("executors", "half", |it| it.scale_executors(0.5)),
    compute("executors", "a quarter, 4 times as long", |it| {
        it.scale_executors(0.25);
        it.lengthen(4)
    }),
];

/// Parameters that Prophet does not publish.
const PROPHETS_SETUP: Variations = &[
    set("gangs", "none", start_without_gang),
    set("executors", "half", |it| it.scale_executors(0.5)),
    compute("executors", "half, twice as long", |it| {
        it.scale_executors(0.5);
        it.lengthen(2)
    }),
    set("network used", "40 %", |it| it.scale_demands(Resource::Network, 0.4)),
    set("both losses", "0.9", lose_most),
    set("both losses", "0.9, no gangs", |it| {
        start_without_gang(it);
        lose_most(it);
    }),
];

type Words = &'static str;

const fn model(parameter: Words, value: Words, change: fn(&mut Contention)) -> Variation<Change> {
    variation(parameter, value, Change::Contention(change))
}

const fn set(parameter: Words, value: Words, change: fn(&mut Setup)) -> Variation<Change> {
    variation(parameter, value, Change::Set(change))
}

const fn compute(
    parameter: Words,
    value: Words,
    change: fn(&mut Setup) -> Result<(), DemandError>,
) -> Variation<Change> {
    variation(parameter, value, Change::Compute(change))
}

/// A waiting application starts although not all of its executors fit. Fit is by request in any case.
fn start_without_gang(setup: &mut Setup) {
    setup.settings.cluster.starvation_wait_ms = 1_000;
}

fn lose_most(setup: &mut Setup) {
    setup.settings.contention.network_loss = 0.9;
    setup.settings.contention.disk_loss = 0.9;
}

/// Sets the error of a slot in percent; that of the length is half of it.
fn errors<const PERCENT: u32>(setup: &mut Setup) {
    let slot = f64::from(PERCENT) / 100.0;
    for application in &mut setup.workload.applications {
        application.errors = Errors::uniform(slot, slot / 2.0);
    }
}
