//! What reprovisioning gains (Elasecutor, Figure 9b), and what it costs.

use elastane_core::DemandError;
use elastane_core::plan::PlanSettings;
use elastane_core::reprovision::ReprovisionSettings;

use super::claim::{Claim, Measure, makespan_cut};
use super::setup::Setup;
use super::{Paper, PublishedExperiment, Variant};
use crate::simulator::{Following, ProgressSource};

/// Elasecutor's limits: an executor gets what is predicted for it and no more.
const LIMITS: PlanSettings = PlanSettings {
    valid_for_ms: 120_000,
    cpu_cap_ratio: Some(1.0),
    limits_memory: false,
    disk_cap_ratio: Some(1.0),
    network_cap_ratio: Some(1.0),
};

/// Elasecutor's limits; demands follow the clock.
const CLOCK: &str = "clock";
/// The same, but they follow progress as it is estimated from usage, or is known.
const ESTIMATED: &str = "estimated";
const EXACT: &str = "exact";
/// The same with reprovisioning.
const ESTIMATED_REPROVISIONED: &str = "estimated+reprov";
const EXACT_REPROVISIONED: &str = "exact+reprov";
/// The same without limits, where executors share what there is.
const SHARED: &str = "shared";
const SHARED_REPROVISIONED: &str = "shared+reprov";

const VARIANTS: &[Variant] = &[
    variant(CLOCK, |setup| limited(setup, ProgressSource::None, None)),
    variant(ESTIMATED, |setup| {
        limited(setup, ProgressSource::Usage, None)
    }),
    variant(ESTIMATED_REPROVISIONED, |setup| {
        limited(setup, ProgressSource::Usage, RHO)
    }),
    variant(EXACT, |setup| limited(setup, ProgressSource::Exact, None)),
    variant(EXACT_REPROVISIONED, |setup| {
        limited(setup, ProgressSource::Exact, RHO)
    }),
    variant(SHARED, |setup| shared(setup, None)),
    variant(SHARED_REPROVISIONED, |setup| shared(setup, RHO)),
];

const RHO: Option<ReprovisionSettings> = Some(ReprovisionSettings {
    slow_from: 1.1,
    every_ms: 60_000,
    least_left: 0.1,
});

const BECAUSE: &str = "not shown; docs/reprovisioning.md has what was seen: windows keep their node for \
                       themselves, and little of what is lent is used";

/// Elasecutor's Figure 9b.
pub const PAPER: Paper = Paper {
    name: "reprovision",
    title: "Reprovisioning: Elasecutor, IEEE/ACM Transactions on Networking 29(2), 2021, Figure 9b",
    experiments: &[
        PublishedExperiment {
            workload: "elasecutor",
            policies: &[],
            variants: VARIANTS,
            claims: CLAIMS,
        },
        PublishedExperiment {
            workload: "elasecutor-outdated",
            policies: &[],
            variants: VARIANTS,
            claims: CLAIMS,
        },
    ],
};

const CLAIMS: &[Claim] = &[
    completion(EXACT_REPROVISIONED, EXACT, 0.5, 4.6),
    completion(EXACT_REPROVISIONED, EXACT, 0.9, 6.0),
    execution(EXACT_REPROVISIONED, EXACT, 0.5, 5.0),
    execution(EXACT_REPROVISIONED, EXACT, 0.9, 14.5),
    completion(ESTIMATED_REPROVISIONED, ESTIMATED, 0.5, 4.6),
    completion(ESTIMATED_REPROVISIONED, ESTIMATED, 0.9, 6.0),
    execution(ESTIMATED_REPROVISIONED, ESTIMATED, 0.5, 5.0),
    execution(ESTIMATED_REPROVISIONED, ESTIMATED, 0.9, 14.5),
    completion(ESTIMATED_REPROVISIONED, CLOCK, 0.5, 4.6),
    execution(ESTIMATED_REPROVISIONED, CLOCK, 0.9, 14.5),
    makespan_cut("none", EXACT_REPROVISIONED, EXACT, 0.0, ""),
    makespan_cut("none", SHARED_REPROVISIONED, SHARED, 0.0, ""),
    completion(SHARED_REPROVISIONED, SHARED, 0.5, 4.6),
    execution(SHARED_REPROVISIONED, SHARED, 0.9, 14.5),
];

const fn variant(name: &'static str, change: super::Change) -> Variant {
    Variant {
        name,
        policy: "minfrag",
        change,
    }
}

fn limited(
    setup: &mut Setup,
    progress: ProgressSource,
    reprovisioning: Option<ReprovisionSettings>,
) -> Result<(), DemandError> {
    setup.settings.following = Following {
        progress,
        reprovisioning,
        limits: Some(LIMITS),
    };
    Ok(())
}

fn shared(
    setup: &mut Setup,
    reprovisioning: Option<ReprovisionSettings>,
) -> Result<(), DemandError> {
    setup.settings.following = Following {
        progress: ProgressSource::Usage,
        reprovisioning,
        limits: None,
    };
    Ok(())
}

const fn completion(of: &'static str, than: &'static str, part: f64, published: f64) -> Claim {
    Claim {
        source: "Figure 9b",
        measure: Measure::CompletionCutAt { of, than, part },
        published,
        because: BECAUSE,
    }
}

const fn execution(of: &'static str, than: &'static str, part: f64, published: f64) -> Claim {
    Claim {
        source: "Figure 9b",
        measure: Measure::ExecutionCutAt { of, than, part },
        published,
        because: BECAUSE,
    }
}
