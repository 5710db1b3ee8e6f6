//! What queues with others below them, and users, may take together, in any workload.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/small_cluster.rs"]
mod small_cluster;

use elastane_core::SLOT_MS;
use elastane_core::cluster::{Request, UserLimit};
use elastane_sim::capacity::Capacity;
use elastane_sim::simulator::{Policies, PolicyToSimulate, SimulatedRun};
use elastane_sim::workload::{ApplicationSpec, Parts, QueueSpec, Workload};
use proptest::prelude::*;

use small_cluster::{application, run, settings, workload};

const MACHINES: usize = 2;
const ALL_BYTES: f64 = MACHINES as f64 * 8e9;
const SLOT_S: f64 = SLOT_MS as f64 / 1e3;
/// Two leaves below `root.p`, and one beside it.
const LEAVES: [&str; 3] = ["root.p.a", "root.p.b", "root.c"];
const USERS: [&str; 2] = ["ada", "bob"];

fn known_policies() -> Policies {
    Policies::with(|| {
        let capacity = PolicyToSimulate::new(Capacity);
        vec![PolicyToSimulate { books_as_registered: true, ..capacity }]
    })
}

/// Applications that use next to nothing, so that executors take as long as they should.
fn any_applications() -> impl Strategy<Value = Vec<ApplicationSpec>> {
    let one = (0..20_000_i64, 1..8_u32, 1..4_u64, 1..12_usize, 0..LEAVES.len(), 0..USERS.len());
    prop::collection::vec(one, 2..9).prop_map(|all| {
        let spec = |(submitted_ms, executors, gb, slots, queue, user): (_, _, u64, _, _, usize)| {
            let slots = vec![[0.001, 1e6, 0.0, 0.0]; slots];
            ApplicationSpec {
                queue,
                user: USERS[user].to_owned(),
                request: Request { memory_bytes: gb * 1_000_000_000, vcores: 0 },
                ..application("one", submitted_ms, executors, &slots)
            }
        };
        all.into_iter().map(spec).collect()
    })
}

fn limited(
    applications: &[ApplicationSpec],
    maximum: f64,
    user_limit: Option<UserLimit>,
) -> Workload {
    let leaf = |path: &&str| QueueSpec { user_limit, ..QueueSpec::new(path, 0.25) };
    let above = QueueSpec {
        is_leaf: false,
        maximum: Parts::both(maximum),
        ..QueueSpec::new("root.p", 0.5)
    };
    let queues = LEAVES.iter().map(leaf).chain([above]).collect();
    Workload { queues, ..workload(MACHINES, applications.to_vec()) }
}

/// The most that executors of some applications request at one time.
fn most_bytes(
    workload: &Workload,
    run: &SimulatedRun,
    counts: impl Fn(&ApplicationSpec) -> bool,
) -> f64 {
    let all = workload.applications.iter().zip(&run.applications);
    let counted = all.filter(|(spec, _)| counts(spec));
    let spans: Vec<(f64, f64, f64)> = counted
        .flat_map(|(spec, outcome)| {
            let lasts_s = spec.actual.slots().len() as f64 * SLOT_S;
            let bytes = spec.request.memory_bytes as f64;
            outcome.starts_s.iter().map(move |start_s| (*start_s, start_s + lasts_s, bytes))
        })
        .collect();
    let at = |time_s: f64| {
        let running = spans.iter().filter(|(from_s, to_s, _)| *from_s <= time_s && time_s < *to_s);
        running.map(|(_, _, bytes)| bytes).sum::<f64>()
    };
    spans.iter().map(|(start_s, _, _)| at(*start_s)).fold(0.0, f64::max)
}

fn is_below(spec: &ApplicationSpec) -> bool {
    LEAVES[spec.queue].starts_with("root.p.")
}

#[test]
fn without_a_maximum_the_queues_below_one_take_all() {
    let slots = [[0.001, 1e6, 0.0, 0.0]; 20];
    let of = |queue| ApplicationSpec { queue, ..application("one", 0, 8, &slots) };
    let most = |maximum| {
        let workload = limited(&[of(0), of(1)], maximum, None);
        most_bytes(&workload, &run(&workload, "capacity", &settings()), is_below)
    };
    // Two virtual cores each: two fill a machine.
    assert!((most(1.0) - 8e9).abs() < 1.0, "{}", most(1.0));
    assert!((most(0.25) - 4e9).abs() < 1.0, "{}", most(0.25));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn queues_below_one_stay_within_its_maximum(
        applications in any_applications(),
        maximum in 0.2..0.9_f64,
    ) {
        let workload = limited(&applications, maximum, None);
        let run = run(&workload, "capacity", &settings());
        let most = most_bytes(&workload, &run, is_below);
        prop_assert!(most <= ALL_BYTES * maximum, "{most} bytes");
    }

    #[test]
    fn a_user_exceeds_its_multiple_of_a_queue_by_one_container_at_most(
        applications in any_applications(),
        factor in 0.2..2.0_f64,
    ) {
        let minimum_allocation = Request { memory_bytes: 1 << 20, vcores: 0 };
        let limit = UserLimit { factor, minimum_percent: 100.0, minimum_allocation };
        let workload = limited(&applications, 1.0, Some(limit));
        let run = run(&workload, "capacity", &settings());
        // Rounded up to a multiple of the smallest container.
        let at_most = ALL_BYTES * 0.25 * factor + f64::from(1 << 20) + 3e9;
        for (queue, user) in (0..LEAVES.len()).flat_map(|queue| USERS.map(|user| (queue, user))) {
            let most = most_bytes(&workload, &run, |it| it.queue == queue && it.user == user);
            prop_assert!(most <= at_most, "{user} has {most} bytes of {}", LEAVES[queue]);
        }
    }
}
