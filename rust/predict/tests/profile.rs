//! The profile against a plain reference.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::{DemandError, Resource, Resources};
use elastane_predict::{ContainerKind, LeftOut, Outcome, ProfileSettings, Run, RunSeries, profile};
use proptest::prelude::*;

const SETTINGS: ProfileSettings = ProfileSettings {
    runs: 3,
    margin: 0.1,
};

fn run(number: usize, outcome: Outcome, slots: Vec<Resources>) -> Run {
    Run {
        application_key: "key".into(),
        application_id: format!("application_1_{number:04}"),
        application_name: "name".into(),
        started_ms: 0,
        ended_ms: 1,
        outcome,
        series: vec![RunSeries {
            kind: ContainerKind::Executor,
            containers: 2,
            slots,
        }],
    }
}

fn amounts(cpu_cores: f64, memory_bytes: f64) -> Resources {
    Resources {
        cpu_cores,
        memory_bytes,
        ..Resources::ZERO
    }
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Succeeded),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::CutOff),
    ]
}

proptest! {
    #[test]
    fn a_profile_equals_the_reference(
        runs in proptest::collection::vec(
            (outcome(), proptest::collection::vec((0.0..8.0, 0.0..1e9), 1..9)),
            0..7,
        ),
        wanted in 1..5_usize,
    ) {
        let runs: Vec<Run> = runs
            .into_iter()
            .enumerate()
            .map(|(number, (outcome, slots))| {
                let slots = slots.into_iter().map(|(cpu, memory)| amounts(cpu, memory));
                run(number, outcome, slots.collect())
            })
            .collect();
        let mut taken: Vec<&Run> = Vec::new();
        for run in &runs {
            if run.outcome == Outcome::Succeeded && taken.len() < wanted {
                taken.push(run);
            }
        }
        let made = profile("key", &runs, &ProfileSettings { runs: wanted, margin: 0.2 });
        let Some(made) = made else {
            prop_assert!(taken.is_empty());
            return Ok(());
        };
        prop_assert_eq!((made.runs, made.margin), (taken.len(), 0.2));
        let demand = made.demand(ContainerKind::Executor).unwrap();
        let mut slot = 0;
        loop {
            let values: Vec<Resources> = taken
                .iter()
                .filter_map(|run| run.series[0].slots.get(slot).copied())
                .collect();
            if values.is_empty() {
                break;
            }
            let cores = values.iter().map(|value| value.cpu_cores).sum::<f64>();
            let memory = values.iter().map(|v| v.memory_bytes).fold(0.0, f64::max);
            prop_assert!((demand.slots()[slot].cpu_cores - cores / values.len() as f64).abs() < 1e-9);
            prop_assert_eq!(demand.slots()[slot].memory_bytes, memory);
            slot += 1;
        }
        prop_assert_eq!(demand.slots().len(), slot);
    }
}

#[test]
fn only_runs_that_succeeded_count_and_only_the_latest() {
    let slots = |cores| vec![amounts(cores, 0.0)];
    let runs = [
        run(6, Outcome::Failed, slots(100.0)),
        run(5, Outcome::Succeeded, slots(3.0)),
        run(4, Outcome::CutOff, slots(100.0)),
        run(3, Outcome::Succeeded, slots(2.0)),
        run(2, Outcome::Succeeded, slots(1.0)),
        run(1, Outcome::Succeeded, slots(100.0)),
    ];
    let made = profile("key", &runs, &SETTINGS).unwrap();
    let demand = made.demand(ContainerKind::Executor).unwrap();
    assert!((demand.slots()[0].cpu_cores - 2.0).abs() < 1e-12);
    assert_eq!(made.runs, 3);
}

#[test]
fn without_a_run_that_succeeded_there_is_no_profile() {
    let failed = run(1, Outcome::Failed, vec![amounts(1.0, 1.0)]);
    assert_eq!(profile("key", &[failed], &SETTINGS), None);
}

#[test]
fn a_kind_that_no_run_had_has_no_demand() {
    let runs = [run(1, Outcome::Succeeded, vec![amounts(1.0, 1.0)])];
    let made = profile("key", &runs, &SETTINGS).unwrap();
    assert_eq!(made.demand(ContainerKind::ApplicationMaster), None);
}

#[test]
fn a_series_that_is_no_demand_is_named() {
    let runs = [
        run(2, Outcome::Succeeded, vec![amounts(-1.0, 1.0)]),
        run(1, Outcome::Succeeded, vec![amounts(1.0, 1.0)]),
    ];
    let made = profile("key", &runs, &SETTINGS).unwrap();
    let expected = LeftOut {
        application_id: "application_1_0002".into(),
        kind: ContainerKind::Executor,
        reason: DemandError::Amount {
            slot: 0,
            resource: Resource::Cpu,
            amount: -1.0,
        },
    };
    assert_eq!(made.left_out, [expected]);
    let demand = made.demand(ContainerKind::Executor).unwrap();
    assert_eq!(demand.slots(), [amounts(1.0, 1.0)]);
}
