//! The gain of reprovisioning (Elasecutor, Figure 9b) and its cost.

use elastane_core::plan::PlanSettings;
use elastane_core::reprovision::ReprovisionSettings;
use elastane_sim::simulator::{Following, ProgressSource};

use super::claim::{Claim, Measure, Time, makespan_cut};
use super::setup::{Change, Setup};
use super::{Lineup, Paper, PublishedExperiment, Variant};

/// Elasecutor's limits: an executor gets at most its prediction.
const LIMITS: PlanSettings = PlanSettings {
    valid_for_ms: 120_000,
    weighs_cpu: false,
    cpu_cap_ratio: Some(1.0),
    limits_memory: false,
    disk_cap_ratio: Some(1.0),
    network_cap_ratio: Some(1.0),
};

/// A fifth of the cluster. Waiting times vary with the seed and with the time of the first report by
/// far more than reprovisioning changes them, so many seeds are worth more than many machines.
const PART_OF_CLUSTER: f64 = 0.2;

/// With Elasecutor's limits; demands follow the clock.
const CLOCK: &str = "clock";
/// Demands follow progress, estimated from usage or exact.
const ESTIMATED: &str = "estimated";
const EXACT: &str = "exact";
/// The same with reprovisioning.
const ESTIMATED_REPROVISIONED: &str = "estimated+reprov";
const EXACT_REPROVISIONED: &str = "exact+reprov";
/// As `exact`, with exact predictions: the upper bound of the gain.
const EXACT_KNOWN: &str = "exact, known";
/// Without limits: executors share the node. Progress is estimated.
const SHARED: &str = "shared";
const SHARED_REPROVISIONED: &str = "shared+reprov";
/// As `exact`, with the policy elastane.
const HOUSE: &str = "house";
const HOUSE_REPROVISIONED: &str = "house+reprov";
const HOUSE_KNOWN: &str = "house, known";

const VARIANTS: &[Variant] = &[
    minfrag(CLOCK, |it| limited(it, ProgressSource::None, None)),
    minfrag(ESTIMATED, |it| limited(it, ProgressSource::Usage, None)),
    minfrag(ESTIMATED_REPROVISIONED, |it| limited(it, ProgressSource::Usage, RHO)),
    minfrag(EXACT, |it| limited(it, ProgressSource::Exact, None)),
    minfrag(EXACT_REPROVISIONED, |it| limited(it, ProgressSource::Exact, RHO)),
    minfrag(EXACT_KNOWN, known),
    minfrag(SHARED, |it| follow(it, ProgressSource::Usage, None, None)),
    minfrag(SHARED_REPROVISIONED, |it| follow(it, ProgressSource::Usage, RHO, None)),
    house(HOUSE, |it| limited(it, ProgressSource::Exact, None)),
    house(HOUSE_REPROVISIONED, |it| limited(it, ProgressSource::Exact, RHO)),
    house(HOUSE_KNOWN, known),
];

const RHO: Option<ReprovisionSettings> =
    Some(ReprovisionSettings { slow_from: 1.1, every_ms: 60_000, least_left: 0.1 });

const BECAUSE: &str = "executors run shorter, but a raised demand leaves less room for others: even exact \
                       predictions gain minfrag nothing (docs/measurements/reprovisioning.md)";

const OURS: &str = "ours";
const NOT_PUBLISHED: &str = "not published: explains the figures above";

/// Elasecutor's Figure 9b.
pub const PAPER: Paper = Paper {
    name: "reprovision",
    title: "Reprovisioning: Elasecutor, IEEE/ACM Transactions on Networking 29(2), 2021, Figure 9b",
    experiments: &[experiment("elasecutor"), experiment("elasecutor-outdated")],
};

const fn experiment(workload: &'static str) -> PublishedExperiment {
    PublishedExperiment {
        lineup: Lineup { workload, policies: &[], variants: VARIANTS },
        claims: CLAIMS,
    }
}

const CLAIMS: &[Claim] = &[
    figure_9b(Time::CompletionAt(0.5), 4.6),
    figure_9b(Time::CompletionAt(0.9), 6.0),
    figure_9b(Time::ExecutionAt(0.5), 5.0),
    figure_9b(Time::ExecutionAt(0.9), 14.5),
    executors(EXACT_REPROVISIONED, EXACT),
    each(EXACT_REPROVISIONED, EXACT),
    makespan_cut(OURS, EXACT_REPROVISIONED, EXACT, 0.0, NOT_PUBLISHED),
    executors(EXACT_KNOWN, EXACT),
    each(EXACT_KNOWN, EXACT),
    makespan_cut(OURS, EXACT_KNOWN, EXACT, 0.0, NOT_PUBLISHED),
    executors(ESTIMATED_REPROVISIONED, ESTIMATED),
    each(ESTIMATED_REPROVISIONED, ESTIMATED),
    makespan_cut(OURS, ESTIMATED_REPROVISIONED, ESTIMATED, 0.0, NOT_PUBLISHED),
    executors(SHARED_REPROVISIONED, SHARED),
    each(SHARED_REPROVISIONED, SHARED),
    makespan_cut(OURS, SHARED_REPROVISIONED, SHARED, 0.0, NOT_PUBLISHED),
    executors(HOUSE_REPROVISIONED, HOUSE),
    each(HOUSE_REPROVISIONED, HOUSE),
    makespan_cut(OURS, HOUSE_REPROVISIONED, HOUSE, 0.0, NOT_PUBLISHED),
    executors(HOUSE_KNOWN, HOUSE),
    each(HOUSE_KNOWN, HOUSE),
    each(ESTIMATED, CLOCK),
    each(EXACT, CLOCK),
    makespan_cut(OURS, EXACT, CLOCK, 0.0, NOT_PUBLISHED),
];

const fn minfrag(name: &'static str, change: fn(&mut Setup)) -> Variant {
    Variant { name, policy: "minfrag", change: Change::Set(change) }
}

const fn house(name: &'static str, change: fn(&mut Setup)) -> Variant {
    Variant { name, policy: "elastane", change: Change::Set(change) }
}

fn known(setup: &mut Setup) {
    setup.know_all();
    limited(setup, ProgressSource::Exact, None);
}

fn limited(
    setup: &mut Setup,
    progress: ProgressSource,
    reprovisioning: Option<ReprovisionSettings>,
) {
    follow(setup, progress, reprovisioning, Some(LIMITS));
}

fn follow(
    setup: &mut Setup,
    progress: ProgressSource,
    reprovisioning: Option<ReprovisionSettings>,
    limits: Option<PlanSettings>,
) {
    setup.part_of_cluster(PART_OF_CLUSTER);
    setup.settings.following = Following { progress, reprovisioning, limits };
}

const fn figure_9b(time: Time, published: f64) -> Claim {
    Claim {
        source: "Figure 9b",
        measure: Measure::Cut(time, EXACT_REPROVISIONED, EXACT),
        published,
        because: BECAUSE,
    }
}

const fn each(of: &'static str, than: &'static str) -> Claim {
    ours(Measure::EachCompletionCut(of, than))
}

const fn executors(of: &'static str, than: &'static str) -> Claim {
    ours(Measure::Cut(Time::Executors, of, than))
}

const fn ours(measure: Measure) -> Claim {
    Claim { source: OURS, measure, published: 0.0, because: NOT_PUBLISHED }
}
