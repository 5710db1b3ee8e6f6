//! Expected starts in queues that are too long for the forecast's steps.

use std::collections::HashMap;

use super::*;
use crate::cluster::UserLimit;
use crate::cluster::forecast::Steps;

const ALL_STEPS: Steps = Steps { now: usize::MAX, all: usize::MAX };
/// The forecast knows what could start now, and nothing more.
const FEW_STEPS: Steps = Steps { now: 100_000, all: 0 };
const WAITING: usize = 10_000;
const DAY_MS: i64 = 86_400_000;

type Starts = HashMap<ApplicationId, ExpectedStart>;

fn starts(cluster: &Cluster, steps: Steps) -> Starts {
    StartForecast::of(cluster, 0).run_within(steps)
}

/// This number of nodes of 8 GB, full of containers of 1 GB that end one after the other within 20 slots.
fn full(nodes: usize) -> Cluster {
    let settings = ClusterSettings { enforce: false, ..settings() };
    let mut cluster = Cluster::new(settings, Box::new(MinFrag { peaks: Peaks::Strict }));
    for number in 0..nodes {
        let node = cluster.node_added(&format!("node-{number}:1"), request(8, 8));
        (0..8).for_each(|on_node| {
            runs(&mut cluster, node, lasting(1 + (number * 8 + on_node) % 20), 1);
        });
    }
    cluster
}

/// Waits since time 0 for a number of containers.
fn waits_in(cluster: &mut Cluster, queue: &str, memory_gb: u64, count: u32) -> ApplicationId {
    let app = cluster.application_added(Application::new("waits", "waits", queue, lasting(20), 0));
    cluster.pending(app, Ask { count, ..ask(memory_gb, 1) }, 0);
    app
}

fn assert_in_order(starts: &Starts, apps: &[ApplicationId]) {
    let at: Vec<_> = apps.iter().filter_map(|app| starts.get(app)).map(|it| it.at_ms).collect();
    assert!(at.is_sorted(), "{at:?}");
}

/// Fills this number of queues, and returns the applications of each in their order.
fn fills(cluster: &mut Cluster, queues: usize, count: u32) -> Vec<Vec<ApplicationId>> {
    let name = |queue: usize| format!("root.q{queue}");
    let part = 1.0 / queues as f64;
    let shares = (0..queues).map(|queue| share(&name(queue), part, 1.0));
    cluster.configure_queues([share("root", 1.0, 1.0)].into_iter().chain(shares).collect());
    let mut apps = vec![Vec::new(); queues];
    for number in 0..WAITING {
        apps[number % queues].push(waits_in(cluster, &name(number % queues), 1, count));
    }
    apps
}

/// Everybody has a start, in the order of the queues, and those that are extrapolated deviate by less than a tenth of a
/// simulation of all.
fn assert_all_start(queues: usize, count: u32) {
    let mut cluster = full(200);
    let apps = fills(&mut cluster, queues, count);
    let starts = StartForecast::of(&cluster, 0).run();
    assert_eq!(starts.len(), WAITING);
    apps.iter().for_each(|apps| assert_in_order(&starts, apps));
    let rough = starts.values().filter(|start| start.is_rough).count();
    assert!((1_000..WAITING - 1_000).contains(&rough), "{rough} of {WAITING} are rough");
    let simulated = self::starts(&cluster, ALL_STEPS);
    let sum = |of: fn(i64, i64) -> i64| -> i64 {
        starts.iter().map(|(app, start)| of(start.at_ms, simulated[app].at_ms)).sum()
    };
    let (error_ms, wait_ms) = (sum(|at, truth| (at - truth).abs()), sum(|_, truth| truth));
    assert!(error_ms * 10 < wait_ms, "{error_ms} ms of {wait_ms} ms");
}

#[test]
fn all_of_ten_thousand_in_one_queue_have_a_start() {
    assert_all_start(1, 10);
}

#[test]
fn all_of_ten_thousand_in_two_hundred_queues_have_a_start() {
    assert_all_start(200, 5);
}

#[test]
fn all_have_a_rough_start_if_it_is_not_known_what_could_start_now() {
    let mut cluster = full(2);
    let apps = fills(&mut cluster, 1, 1);
    for all in [0, 1_000] {
        let starts = starts(&cluster, Steps { now: 0, all });
        assert_eq!(starts.len(), WAITING);
        assert!(starts.values().all(|start| start.is_rough));
        assert_in_order(&starts, &apps[0]);
    }
}

#[test]
fn queues_at_their_maxima_take_few_steps_beside_nodes_with_room() {
    let mut cluster = full(1);
    let apps = fills(&mut cluster, 10, 1);
    let shares = (0..10).map(|queue| share(&format!("root.q{queue}"), 0.0, 0.0));
    cluster.configure_queues([share("root", 1.0, 1.0)].into_iter().chain(shares).collect());
    (0..500).for_each(|number| {
        cluster.node_added(&format!("empty-{number}:1"), request(8, 8));
    });
    assert_eq!(starts(&cluster, FEW_STEPS).len(), 0, "their maxima are 0");
    cluster.application_moved(apps[0][0], "root.default");
    let now = ExpectedStart { at_ms: 0, is_rough: false };
    assert_eq!(starts(&cluster, FEW_STEPS), HashMap::from([(apps[0][0], now)]));
}

#[test]
fn what_can_never_start_has_no_rough_start() {
    let mut cluster = full(2);
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.default", 1.0, 1.0),
        share("root.small", 0.1, 0.25),
    ]);
    let too_large = waits_in(&mut cluster, "root.default", 9, 1);
    let above_its_maximum = waits_in(&mut cluster, "root.small", 5, 1);
    let of_no_node = waits_in(&mut cluster, "root.default", 1, 1);
    cluster.set_label(of_no_node, "gpu");
    let held = waits_in(&mut cluster, "root.default", 1, 1);
    cluster.set_standing(held, &[], Standing::Held);
    let master = ContainerKind::ApplicationMaster;
    cluster.pending(held, Ask { kind: master, count: 1, ..ask(1, 1) }, 0);
    let starting = [("root.default", 8), ("root.small", 4), ("root.default", 1)];
    let starting = starting.map(|(queue, gb)| waits_in(&mut cluster, queue, gb, 1));
    let starts = starts(&cluster, FEW_STEPS);
    for app in [too_large, above_its_maximum, of_no_node, held] {
        assert_eq!(starts.get(&app), None);
    }
    assert!(starting.iter().all(|app| starts[app].is_rough), "{starts:?}");
}

#[test]
fn what_can_never_start_delays_nobody() {
    let start_behind = |first_gb| {
        let mut cluster = full(2);
        waits_in(&mut cluster, "root.default", first_gb, 10_000);
        let behind = waits_in(&mut cluster, "root.default", 1, 1);
        starts(&cluster, FEW_STEPS)[&behind].at_ms
    };
    let alone = {
        let mut cluster = full(2);
        let alone = waits_in(&mut cluster, "root.default", 1, 1);
        starts(&cluster, FEW_STEPS)[&alone].at_ms
    };
    assert_eq!(start_behind(9), alone);
    assert!(start_behind(1) > 100 * alone);
}

#[test]
fn queues_without_containers_share_what_others_leave() {
    let first_of_each = |queues: usize| {
        let mut cluster = full(2);
        let apps = fills(&mut cluster, queues, 1);
        let starts = starts(&cluster, FEW_STEPS);
        apps.iter().map(|apps| starts[&apps[0]].at_ms).min().unwrap()
    };
    assert!(first_of_each(100) > 50 * first_of_each(1));
}

#[test]
fn beyond_a_day_there_is_no_rough_start() {
    let mut cluster = full(1);
    let many = waits_in(&mut cluster, "root.default", 8, 100_000);
    let behind = waits_in(&mut cluster, "root.default", 1, 1);
    let starts = starts(&cluster, FEW_STEPS);
    assert!(starts[&many].is_rough);
    assert_eq!(starts.get(&behind), None);
}

#[test]
fn a_user_at_its_limit_waits_for_its_own_containers_and_lets_others_pass() {
    let mut cluster = full(4);
    let minimum_allocation = request(1, 1);
    let user_limit = Some(UserLimit { factor: 0.05, minimum_percent: 1.0, minimum_allocation });
    let of_default = QueueShare { user_limit, ..share("root.default", 1.0, 1.0) };
    cluster.configure_queues(vec![share("root", 1.0, 1.0), of_default]);
    let of_user = |cluster: &mut Cluster, user: &str, demands: Demands| {
        let app = Application::new(user, user, "root.default", demands, 0).by_user(user);
        let app = cluster.application_added(app);
        cluster.pending(app, Ask { count: 1, ..ask(1, 1) }, 0);
        app
    };
    let node = cluster.node_added("node-5:1", request(8, 8));
    for number in 0..8 {
        let runs = of_user(&mut cluster, "limited", lasting(2_000));
        record(&mut cluster, &format!("of limited {number}"), runs, node, 1, 0);
        cluster.pending(runs, Ask { count: 0, ..ask(1, 1) }, 0);
    }
    let limited = [(); 2].map(|()| of_user(&mut cluster, "limited", lasting(1)));
    let others = ["one", "two"].map(|user| of_user(&mut cluster, user, lasting(1)));
    let starts = starts(&cluster, FEW_STEPS);
    let [first, second] = limited.map(|app| starts[&app].at_ms);
    assert!(first < second, "{first} {second}");
    for other in others {
        let other = starts[&other].at_ms;
        assert!(other < 60_000 && 10 * other < first, "{other} {first}");
    }
    assert!(second < DAY_MS);
}

/// Of a queue, a label, a size and a number of containers.
type Asks = (usize, bool, u64, u32);

fn small_cluster(running: &[(usize, u64)], asks: &[Asks]) -> (Cluster, Vec<ApplicationId>) {
    let (mut cluster, nodes) = observed();
    cluster.node_labelled(nodes[1], "x");
    let of_label = |label: &str| {
        let of = |queue, part, maximum| QueueShare {
            label: label.to_owned(),
            ..share(queue, part, maximum)
        };
        [of("root", 1.0, 1.0), of("root.a", 0.5, 1.0), of("root.b", 0.5, 0.5)]
    };
    cluster.configure_queues([of_label(""), of_label("x")].concat());
    for (number, (slots, memory_gb)) in running.iter().enumerate() {
        let app = runs(&mut cluster, nodes[number % 2], lasting(*slots), *memory_gb);
        cluster.application_moved(app, ["root.a", "root.b"][number / 2 % 2]);
    }
    let apps = asks.iter().map(|(queue, has_label, memory_gb, count)| {
        let app = waits_in(&mut cluster, ["root.a", "root.b"][*queue], *memory_gb, *count);
        cluster.set_label(app, if *has_label { "x" } else { "" });
        app
    });
    let apps = apps.collect();
    (cluster, apps)
}

proptest! {
    /// What the steps suffice for is as without a bound; the others have a rough start, in their order.
    #[test]
    fn few_steps_change_only_what_is_extrapolated(
        running in proptest::collection::vec((1_usize..10, 2_u64..5), 0..6),
        asks in proptest::collection::vec((0_usize..2, any::<bool>(), 1_u64..10, 1_u32..3), 1..8),
        all in 0_usize..300,
    ) {
        let (cluster, apps) = small_cluster(&running, &asks);
        let simulated = starts(&cluster, ALL_STEPS);
        prop_assert_eq!(&StartForecast::of(&cluster, 0).run(), &simulated);
        let found = starts(&cluster, Steps { now: 100_000, all });
        let mut last_rough = HashMap::new();
        for (app, (queue, has_label, memory_gb, _)) in apps.iter().zip(&asks) {
            let start = found.get(app);
            if *memory_gb > 8 || (*queue == 1 && *memory_gb > 4) {
                prop_assert_eq!(start, None);
            }
            prop_assert!(start.is_some() || !simulated.contains_key(app));
            if start.is_some_and(|start| !start.is_rough) {
                prop_assert_eq!(start, simulated.get(app));
            }
            if let Some(start) = start.filter(|start| start.is_rough) {
                let last_ms = last_rough.insert((queue, has_label), start.at_ms);
                prop_assert!(last_ms <= Some(start.at_ms));
            }
        }
    }
}
