//! What holds under each of `crate::policies`: all but those that place gangs, under which an application
//! that is too large for the whole cluster at once waits until others have waited less.

use elastane_core::fit::Peaks;
use elastane_core::policy::{Favor, PolicyOptions};
use elastane_core::{Resource, Resources, SLOT_MS};
use elastane_sim::simulator::{LowerBound, Settings};
use elastane_sim::workload::Workload;
use proptest::prelude::*;

use crate::small_cluster::{
    TOO_LONG_MS, any_workload, application, run, settings, starving_after, workload,
};

#[test]
fn where_nobody_starves_ever_all_that_fits_is_done() {
    // The second one does not fit beside the first, so that a node sleeps until that ends.
    let first = application("first", 0, 3, &[[3.0, 1e9, 0.0, 0.0]; 10]);
    let second = application("second", 100, 3, &[[3.0, 1e9, 0.0, 0.0]; 5]);
    let work = workload(2, vec![first, second]);
    for policy in crate::policies() {
        let ended_s = |starvation_wait_ms| {
            let settings = starving_after(starvation_wait_ms);
            run(&work, policy, &settings).makespan_s
        };
        assert_eq!(ended_s(i64::MAX), ended_s(TOO_LONG_MS), "{policy}");
    }
}

/// Whether a node is asked about must not depend on how many machines and applications there are, or a
/// run grows with the square of them.
#[test]
fn a_full_cluster_is_not_asked_in_vain() {
    let applications = |machines: i64| {
        (0..4 * machines).map(move |number| {
            let cores = [1.0, 2.0, 3.0][(number % 3) as usize];
            let slots = vec![[cores, 1e9, 0.0, 0.0]; 20 + (number % 7) as usize];
            application("a", number * 500, 2, &slots)
        })
    };
    let settings = Settings { margin: 0.0, ..starving_after(i64::MAX) };
    for machines in [4, 16] {
        let work = workload(machines, applications(machines as i64).collect());
        for policy in crate::NEVER_ASKED_IN_VAIN {
            let counts = run(&work, policy, &settings).counts;
            let waits = format!("{policy} on {machines} machines");
            assert_eq!(counts.rounds, counts.placed, "{waits}");
        }
    }
}

fn total_work(workload: &Workload, seed: u64) -> Resources {
    let mut work = Resources::ZERO;
    for (place, application) in workload.applications.iter().enumerate() {
        for number in 0..application.executors {
            for slot in application.executor(seed, place, number) {
                work += slot * (f64::from(SLOT_MS) / 1e3);
            }
        }
    }
    work
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_work_that_is_done_is_the_work_that_there_was(workload in any_workload()) {
        for policy in crate::policies() {
            let outcome = run(&workload, policy, &settings());
            if outcome.counts.killed > 0 || outcome.counts.released > 0 {
                continue;
            }
            let wanted = total_work(&workload, 1);
            for resource in [Resource::Cpu, Resource::Network, Resource::Disk] {
                let (done, wanted) = (outcome.work_done.get(resource), wanted.get(resource));
                prop_assert!((done - wanted).abs() <= 1e-6 * wanted.max(1.0), "{policy}: {done} of {wanted}");
            }
        }
    }

    #[test]
    fn no_policy_beats_the_lower_bound(workload in any_workload()) {
        let bound = LowerBound::new(&workload, 1);
        for policy in crate::policies() {
            let makespan_s = run(&workload, policy, &settings()).makespan_s;
            let chain_s = bound.chain_s;
            prop_assert!(makespan_s >= chain_s - 1e-6, "{policy}: {makespan_s} s, {bound:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome_to_the_byte(workload in any_workload()) {
        for policy in crate::policies() {
            let outcome = || run(&workload, policy, &settings());
            prop_assert_eq!(format!("{:?}", outcome()), format!("{:?}", outcome()));
        }
    }

    #[test]
    fn leaving_out_heartbeats_changes_nothing(
        workload in any_workload(),
        peaks in prop::sample::select(
            vec![None, Some(Peaks::Strict), Some(Peaks::Soft)]),
        favor in prop::sample::select(Favor::ALL.to_vec()),
        margin in prop::sample::select(vec![0.0, 0.2]),
        starvation_wait_ms in prop::sample::select(vec![5_000, 60_000, i64::MAX]),
        max_ratio in prop::sample::select(vec![1.5, 2.0, 100.0]),
    ) {
        for policy in crate::policies() {
            let with = |skip_idle_heartbeats| {
                let mut settings = Settings {
                    skip_idle_heartbeats,
                    policy_options: PolicyOptions { peaks, favor },
                    margin,
                    ..starving_after(starvation_wait_ms)
                };
                settings.cluster.max_ratio = max_ratio;
                let mut outcome = run(&workload, policy, &settings);
                // How much was looked at is what differs.
                outcome.counts.rounds = 0;
                outcome.counts.events = 0;
                format!("{outcome:?}")
            };
            prop_assert_eq!(with(true), with(false), "{}", policy);
        }
    }
}
