//! The plan's grid of slots, and extreme input.

use proptest::prelude::*;

use super::*;

#[test]
fn a_demand_starts_with_the_slot_of_its_commit() {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", learned(&[4.0, 1.0], 1.0), ask(1, 1));
    place(&mut cluster, "1", first, node, 2_999);
    let second = waiting(&mut cluster, "second", learned(&[3.0], 1.0), ask(1, 1));
    let names = |cluster: &mut Cluster, now_ms| {
        let named = cluster.round(node, request(16, 16), now_ms).unwrap();
        named.contains(&second)
    };
    assert!(!names(&mut cluster, 2_999));
    assert!(names(&mut cluster, 3_000));
    cluster.finished("1");
    assert!(names(&mut cluster, 2_999), "the clock was put back");
}

#[test]
fn a_demand_is_resampled_to_the_largest_value_in_each_slot() {
    let (mut cluster, node) = cluster_of_one(settings());
    let slots = [1.0, 4.0, 1.0].map(|cores| Resources::from_array([cores, 1e9, 0.0, 0.0]));
    let fine = executors(Demand::series(1_000, &slots).unwrap(), 0.0);
    let first = waiting(&mut cluster, "first", fine, ask(1, 1));
    place(&mut cluster, "1", first, node, 0);
    let second = waiting(&mut cluster, "second", learned(&[0.5], 1.0), ask(1, 1));
    let named = cluster.round(node, request(16, 16), 0).unwrap();
    assert!(!named.contains(&second), "four cores are taken");
}

/// Boundary values of arithmetic.
fn odd_ms() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![i64::MIN, -1, 0, 2_999, 1_000_000, i64::MAX])
}

fn odd_amount() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![0.0, 1e-300, 1.5, 1e18, f64::MAX])
}

fn odd_size() -> impl Strategy<Value = f64> {
    let not_sizes = prop::sample::select(vec![f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY]);
    prop_oneof![2 => odd_amount(), 1 => not_sizes]
}

fn odd_request() -> impl Strategy<Value = Request> {
    let memory_bytes = prop::sample::select(vec![0, 1, GB, u64::MAX]);
    let vcores = prop::sample::select(vec![0, 1, u32::MAX]);
    (memory_bytes, vcores).prop_map(|(memory_bytes, vcores)| Request { memory_bytes, vcores })
}

fn odd_demand() -> impl Strategy<Value = Demand> {
    // The last length is cut after a day, which takes long to compute.
    let slot_ms =
        prop_oneof![20 => Just(1), 20 => Just(3_000), 20 => Just(7_777), 1 => Just(u32::MAX)];
    let amounts = prop::array::uniform4(odd_amount()).prop_map(Resources::from_array);
    (slot_ms, prop::collection::vec(amounts, 1..5))
        .prop_map(|(slot_ms, slots)| Demand::series(slot_ms, &slots).unwrap())
}

proptest! {
    #[test]
    fn no_input_makes_the_cluster_panic(
        peaks in prop::sample::select(vec![Peaks::Strict, Peaks::Soft]),
        registered in odd_request(),
        capacity in prop::array::uniform4(odd_size()),
        wait_ms in odd_ms(),
        max_ratio in odd_size(),
        steps in prop::collection::vec(
            (odd_ms(), odd_ms(), odd_request(), prop::option::of(odd_demand()), odd_size(), any::<bool>()),
            1..12,
        ),
    ) {
        let settings = ClusterSettings {
            fresh_for_ms: i64::MAX,
            starvation_wait_ms: wait_ms,
            max_ratio,
            ..settings()
        };
        let mut cluster = Cluster::new(settings, Box::new(MinFrag { peaks }));
        let nodes = ["node-1:1", "node-2:1"].map(|name| cluster.node_added(name, registered));
        for (number, (now_ms, start_ms, request, demand, odd, may_refuse)) in
            steps.into_iter().enumerate()
        {
            for node in nodes {
                cluster.reported(node, Resources::from_array(capacity), now_ms);
            }
            cluster.bookable_changes(1, now_ms);
            let demands = demand.map(|demand| executors(demand, odd));
            let demands = demands.unwrap_or_default();
            let ask = Ask { request, ..ask(1, 1) };
            let app = waiting(&mut cluster, "a", demands, ask);
            cluster.round(nodes[0], registered, now_ms);
            let container = format!("{number}");
            let commit = CommitRequest {
                container: &container,
                application: app,
                node: nodes[number % 2],
                kind: ContainerKind::DEFAULT_EXECUTOR,
                request,
                may_refuse,
                start_ms,
            };
            cluster.commit(commit, now_ms);
            cluster.measured_memory(&container, odd);
            cluster.wait_reason(app, now_ms);
            cluster.round(nodes[1], registered, now_ms);
            cluster.limits_on(nodes[0]).unwrap().plans(&PlanSettings::default(), LIMITS_CPU, now_ms);
            let _ = cluster.may_preempt(Preemption { node: nodes[0], queue: "root" }, now_ms);
            if number % 3 == 2 {
                cluster.finished(&container);
            }
        }
        cluster.node_removed(nodes[0]);
    }
}
