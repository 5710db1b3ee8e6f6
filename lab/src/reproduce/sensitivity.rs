//! The sensitivity of the main figures to the parameters of the contention model, to the errors of
//! predictions, and to parameters that the papers do not publish.

use elastane_core::{DemandError, Resource, Resources};

use super::claim::{Measure, Time};
use super::setup::{Change, Setup};
use super::{Variant, elasecutor, prophet};
use crate::variation::{Variation, variation};
use crate::workload::Class;

/// Figures of a workload under several changes.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// The workload's name.
    pub workload: &'static str,
    /// The policies' names.
    pub policies: &'static [&'static str],
    /// Policies with changed settings.
    pub variants: &'static [Variant],
    /// The figures.
    pub measures: &'static [Measure],
    /// The changes, made one at a time; the first changes nothing.
    pub variations: &'static [&'static [Variation<Change>]],
}

/// All studies.
pub const STUDIES: [Study; 2] = [
    Study {
        workload: "elasecutor",
        policies: &["minfrag", "trc", "static", "dynamic", "tetris"],
        variants: &[],
        measures: &[
            elasecutor::CUT_OF_BEST,
            Measure::BoundBelowBest(elasecutor::BASELINES),
            Measure::Cut(Time::Makespan, "minfrag", "tetris"),
            Measure::Cut(Time::Makespan, "minfrag", "trc"),
        ],
        variations: &[AS_IT_IS, MODEL, PREDICTIONS, ELASECUTORS_SETUP],
    },
    Study {
        workload: "prophet",
        policies: &["capacity"],
        variants: prophet::VARIANTS,
        measures: &[
            Measure::Cut(Time::Makespan, "prophet", "capacity"),
            Measure::Cut(Time::MedianCompletion, "prophet", "capacity"),
            Measure::Cut(Time::Makespan, "prophet", prophet::WITHOUT_BACKOFF),
        ],
        variations: &[AS_IT_IS, MODEL, PREDICTIONS, PROPHETS_SETUP],
    },
];

const AS_IT_IS: &[Variation<Change>] = &[variation("as it is", "", |_| Ok(()))];

/// The contention model.
const MODEL: &[Variation<Change>] = &[
    variation("network_loss", "0", |setup| {
        setup.settings.contention.network_loss = 0.0;
        Ok(())
    }),
    variation("network_loss", "0.4", |setup| {
        setup.settings.contention.network_loss = 0.4;
        Ok(())
    }),
    variation("disk_loss", "0", |setup| {
        setup.settings.contention.disk_loss = 0.0;
        Ok(())
    }),
    variation("disk_loss", "0.8", |setup| {
        setup.settings.contention.disk_loss = 0.8;
        Ok(())
    }),
    variation("spill_slowdown", "2", |setup| {
        setup.settings.contention.spill_slowdown = 2.0;
        Ok(())
    }),
    variation("spill_slowdown", "50", |setup| {
        setup.settings.contention.spill_slowdown = 50.0;
        Ok(())
    }),
    variation("kill_above", "1.1", |setup| {
        setup.settings.contention.kill_above = 1.1;
        Ok(())
    }),
    variation("kill_above", "3", |setup| {
        setup.settings.contention.kill_above = 3.0;
        Ok(())
    }),
];

/// Errors of predictions.
const PREDICTIONS: &[Variation<Change>] = &[
    variation("errors", "none", |setup| errors(setup, 0.0, 0.0)),
    variation("errors", "20 % a slot, 10 % in length", |setup| {
        errors(setup, 0.2, 0.1)
    }),
    variation("errors", "40 % a slot, 20 % in length", |setup| {
        errors(setup, 0.4, 0.2)
    }),
];

/// Parameters that Elasecutor does not publish.
const ELASECUTORS_SETUP: &[Variation<Change>] = &[
    variation("starvation_wait", "60 s", |setup| {
        setup.settings.cluster.starvation_wait_ms = 60_000;
        Ok(())
    }),
    variation("containers a heartbeat", "16", |setup| {
        setup.settings.assignments_per_heartbeat = 16;
        Ok(())
    }),
    variation("heartbeat", "1 s", |setup| {
        setup.workload.heartbeat_ms = 1_000;
        Ok(())
    }),
    variation("disk", "750 MB/s", |setup| {
        setup.scale_machines(Resource::Disk, 1.5);
        Ok(())
    }),
    variation("disk", "1,000 MB/s", |setup| {
        setup.scale_machines(Resource::Disk, 2.0);
        Ok(())
    }),
    variation("WordCount", "taken for K-means", |setup| {
        setup.take_for("WordCount", [Class::Terasort, Class::KMeans])
    }),
    variation("memory", "32 GB", |setup| {
        setup.scale_machines(Resource::Memory, 0.5);
        Ok(())
    }),
    variation("executors", "half", |setup| {
        setup.scale_executors(0.5);
        Ok(())
    }),
    variation("executors", "a quarter, 4 times as long", |setup| {
        setup.scale_executors(0.25);
        setup.lengthen(4)
    }),
];

/// Parameters that Prophet does not publish.
const PROPHETS_SETUP: &[Variation<Change>] = &[
    variation("gangs", "none", |setup| {
        // A waiting application starts although not all of its executors fit. Fit is by request in any
        // case.
        setup.settings.cluster.starvation_wait_ms = 1_000;
        Ok(())
    }),
    variation("executors", "half", |setup| {
        setup.scale_executors(0.5);
        Ok(())
    }),
    variation("executors", "half, twice as long", |setup| {
        setup.scale_executors(0.5);
        setup.lengthen(2)
    }),
    variation("network used", "40 %", |setup| {
        setup.scale_demands(Resource::Network, 0.4)
    }),
    variation("both losses", "0.9", lose_most),
    variation("both losses", "0.9, no gangs", |setup| {
        setup.settings.cluster.starvation_wait_ms = 1_000;
        lose_most(setup)
    }),
];

fn lose_most(setup: &mut Setup) -> Result<(), DemandError> {
    setup.settings.contention.network_loss = 0.9;
    setup.settings.contention.disk_loss = 0.9;
    Ok(())
}

fn errors(setup: &mut Setup, slot: f64, length: f64) -> Result<(), DemandError> {
    for application in &mut setup.workload.applications {
        application.errors.slot = Resources::from_array([slot; 4]);
        application.errors.length = length;
    }
    Ok(())
}
