//! The figures that Prophet published (Xu, Xu and Jiang, ICAC 2016), and why simulated ones differ.
//! `docs/measurements/papers.md` has the figures behind each reason.

use elastane_sim::simulator::Contention;

use super::claim::{Claim, Measure, Time, makespan_cut};
use super::setup::Change;
use super::{Lineup, Paper, PublishedExperiment, Variant};

/// Why makespans differ.
const SIZES: &str = "the paper does not publish the number of executors of an application nor their length, so \
                     the amount of work differs from the paper's";
/// Why Prophet's cuts differ.
const GANGS: &str = "most of the published gain is avoided contention, and the contention model that all \
                     papers share loses less: with losses of 0.9 the cut is 30 %. Gangs, which wait until \
                     all of their executors find room, gain nothing here, because each executor has work \
                     of its own";
/// Why the cuts of backoff differ.
const BACKOFF: &str = "backoff gains by avoided contention, and the contention model that all papers share \
                       loses less than the paper's cluster";

/// In Table III, Prophet includes backoff.
pub(super) const WITHOUT_BACKOFF: &str = "prophet-without-backoff";

/// Prophet's task backoff (section V): tasks whose machine has too little network or disk for all of
/// them wait, so that nothing is lost to contention. Those that go on use all that there is; which of
/// them wait makes no difference to their sum.
fn back_off(model: &mut Contention) {
    (model.network_loss, model.disk_loss) = (0.0, 0.0);
}

/// With and without task backoff (section V).
pub(super) const VARIANTS: &[Variant] = &[
    Variant { name: "prophet", policy: "prophet", change: Change::Contention(back_off) },
    Variant { name: WITHOUT_BACKOFF, policy: "prophet", change: Change::NONE },
];

pub(super) const PAPER: Paper = Paper {
    name: "prophet",
    title: "Prophet, ICAC 2016",
    experiments: &[PublishedExperiment {
        lineup: Lineup {
            workload: "prophet",
            policies: &["capacity", "drf", "tetris", "minfrag"],
            variants: VARIANTS,
        },
        claims: &[
            makespan("capacity", 16_604.0),
            makespan("drf", 18_369.0),
            makespan("tetris", 25_537.0),
            makespan("prophet", 11_290.0),
            makespan(WITHOUT_BACKOFF, 15_707.0),
            makespan_cut("Table III", "prophet", "capacity", 32.0, GANGS),
            makespan_cut("Table III", "prophet", "drf", 39.0, GANGS),
            makespan_cut("Table III", "prophet", "tetris", 56.0, GANGS),
            makespan_cut("Table III", WITHOUT_BACKOFF, "capacity", 5.4, GANGS),
            makespan_cut("Table III", "prophet", WITHOUT_BACKOFF, 28.1, BACKOFF),
            median(Time::MedianCompletion, "capacity", 23.0, GANGS),
            median(Time::MedianCompletion, WITHOUT_BACKOFF, 10.0, BACKOFF),
            median(Time::MedianExecution, WITHOUT_BACKOFF, 13.0, BACKOFF),
        ],
    }],
};

const fn makespan(of: &'static str, published: f64) -> Claim {
    Claim { source: "Table III", measure: Measure::Makespan(of), published, because: SIZES }
}

const fn median(time: Time, than: &'static str, published: f64, because: &'static str) -> Claim {
    Claim { source: "section VI", measure: Measure::Cut(time, "prophet", than), published, because }
}
