//! The plan of starts against a plain slot-by-slot reference.

use proptest::prelude::*;

use super::*;
use crate::cluster::{PlannedStart, plan_starts};
use crate::policy::{ElastanePolicy, Favor};

/// Twentieths of a core, half gigabytes and 5 MB/s, so that every sum is exact.
type Units = [i64; 4];

const CAPACITY: Units = [80, 16, 20, 20];
const CPU: usize = 0;

/// Allowed excess under [`Peaks::Soft`].
const SOFT: Units = [16, 0, 12, 4];

fn resources(units: Units) -> Resources {
    let [cpu, memory, network, disk] = units.map(|units| units as f64);
    Resources::from_array([cpu / 20.0, memory * 5e8, network * 5e6, disk * 5e6])
}

fn demand(slots: &[Units]) -> Demand {
    let slots: Vec<_> = slots.iter().copied().map(resources).collect();
    Demand::series(crate::SLOT_MS, &slots).unwrap()
}

/// An executor's demand in each slot, and its margin.
#[derive(Debug, Clone)]
struct Executor {
    slots: Vec<Units>,
    margin: f64,
    peaks: Peaks,
}

impl Executor {
    fn at(&self, slot: usize) -> Units {
        let needed = |units: i64| (units as f64 * (1.0 + self.margin)) as i64;
        let slot = self.slots.get(slot).copied().unwrap_or_default();
        std::array::from_fn(|i| needed(slot[i]).min(CAPACITY[i]))
    }

    fn is_large(&self) -> bool {
        (0..self.slots.len()).any(|slot| self.at(slot)[CPU] * 2 > CAPACITY[CPU])
    }

    /// The resources compared in every slot, and those compared in total.
    fn compared(&self) -> (&'static [usize], &'static [usize]) {
        match self.peaks {
            Peaks::Strict => (&[0, 1, 2, 3], &[]),
            Peaks::Soft if self.is_large() => (&[1, 2, 3], &[0]),
            Peaks::Soft => (&[0, 1, 2, 3], &[]),
        }
    }

    /// Whether it fits from slot `start` on with `left` in each slot.
    fn fits(&self, start: usize, left: &dyn Fn(usize) -> Units) -> bool {
        let (in_every_slot, in_total) = self.compared();
        let life = self.slots.len();
        let allowed_excess = |i: usize| match self.peaks {
            Peaks::Soft => SOFT[i],
            Peaks::Strict => 0,
        };
        let fits_slot = |slot: usize| {
            let (needed, left) = (self.at(slot), left(start + slot));
            let mut compared = in_every_slot.iter();
            compared.all(|i| needed[*i] <= left[*i] + allowed_excess(*i))
        };
        let fits_total = |i: &usize| {
            let missing = |slot: usize| self.at(slot)[*i] - left(start + slot)[*i];
            (0..life).map(missing).sum::<i64>() <= 0
        };
        (0..life).all(fits_slot) && in_total.iter().all(fits_total)
    }
}

/// A node with these running executors, and those that were placed there by plan: which, and from when on.
#[derive(Debug, Clone, Default)]
struct Node {
    running: Vec<Vec<Units>>,
    placed: Vec<(usize, usize)>,
}

impl Node {
    fn left(&self, slot: usize, executors: &[Waiting]) -> Units {
        let running = self.running.iter().filter_map(|slots| slots.get(slot).copied());
        let placed = self.placed.iter().map(|(which, start)| match slot.checked_sub(*start) {
            Some(slot) => executors[*which].executor.at(slot),
            None => [0; 4],
        });
        let taken = running
            .chain(placed)
            .fold([0; 4], |sum: Units, units| std::array::from_fn(|i| sum[i] + units[i]));
        std::array::from_fn(|i| CAPACITY[i] - taken[i])
    }
}

/// An application with this many alike executors; each goes before the next application of its queue.
#[derive(Debug, Clone)]
struct Waiting {
    executor: Executor,
    count: u32,
    queue: &'static str,
}

fn slots(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Units>> {
    let slot = (0..14_i64, 0..9_i64, 0..16_i64, 0..12_i64)
        .prop_map(|(cpu, memory, network, disk)| [cpu * 5, memory, network, disk]);
    prop::collection::vec(slot, count)
}

fn waiting_ones(peaks: Peaks) -> impl Strategy<Value = Waiting> {
    let margin = prop::sample::select(vec![0.0, 1.0]);
    let queue = prop::sample::select(vec!["root.default", "root.other"]);
    (slots(1..8), margin, 1..4_u32, queue).prop_map(move |(slots, margin, count, queue)| Waiting {
        executor: Executor { slots, margin, peaks },
        count,
        queue,
    })
}

/// Busy nodes and applications that wait, in their order.
fn any_case() -> impl Strategy<Value = (Peaks, Vec<Node>, Vec<Waiting>)> {
    let peaks = prop::sample::select(vec![Peaks::Strict, Peaks::Soft]);
    let node = prop::collection::vec(slots(1..12), 0..3)
        .prop_map(|running| Node { running, ..Node::default() });
    let nodes = prop::collection::vec(node, 1..4);
    (peaks, nodes).prop_flat_map(|(peaks, nodes)| {
        let waiting = prop::collection::vec(waiting_ones(peaks), 1..5);
        (Just(peaks), Just(nodes), waiting)
    })
}

/// Where and in which slot each container starts, by application.
fn planned(nodes: &mut [Node], waiting: &[Waiting]) -> Vec<Vec<(usize, usize)>> {
    // Nothing changes after that.
    let last_slot = 12 + waiting.iter().map(|it| 8 * it.count as usize).sum::<usize>();
    let mut starts = vec![Vec::new(); waiting.len()];
    // The first of all queues, then the second of all.
    let place = |which: &usize| {
        waiting[..*which].iter().filter(|other| other.queue == waiting[*which].queue).count()
    };
    let mut order: Vec<_> = (0..waiting.len()).collect();
    order.sort_by_key(|which| (place(which), *which));
    for which in order {
        let Waiting { executor, count, .. } = &waiting[which];
        for _ in 0..*count {
            let all = (0..=last_slot).flat_map(|slot| (0..nodes.len()).map(move |on| (on, slot)));
            let fits = |(on, slot): &(usize, usize)| {
                executor.fits(*slot, &|slot| nodes[*on].left(slot, waiting))
            };
            let mut all = all.filter(fits);
            let Some((on, slot)) = all.next() else {
                break;
            };
            drop(all);
            nodes[on].placed.push((which, slot));
            starts[which].push((on, slot));
        }
    }
    starts
}

/// Whether a container of `which` that starts now on a node would delay one that is planned there for later.
fn delays(node: &Node, which: usize, waiting: &[Waiting]) -> bool {
    let claims = |(owner, start): &(usize, usize)| {
        *owner < which && *start > 0 && waiting[*owner].queue == waiting[which].queue
    };
    let later: Vec<_> = node.placed.iter().copied().filter(claims).collect();
    (0..later.len()).any(|index| {
        let mut placed = later[..index].to_vec();
        placed.push((which, 0));
        let beside = Node { placed, ..node.clone() };
        let (owner, start) = later[index];
        !waiting[owner].executor.fits(start, &|slot| beside.left(slot, waiting))
    })
}

/// The cluster with these nodes and applications.
fn cluster_of(
    peaks: Peaks,
    nodes: &[Node],
    waiting_ones: &[Waiting],
) -> (Cluster, Vec<NodeId>, Vec<ApplicationId>) {
    let policy = ElastanePolicy { peaks, favor: Favor::Balanced };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let mut numbers = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let on = cluster.node_added(&format!("node-{number}:1"), request(8, 4));
        cluster.reported(on, resources(CAPACITY), 0);
        for (index, slots) in node.running.iter().enumerate() {
            let name = format!("runs-{number}-{index}");
            let runs = waiting(&mut cluster, &name, executors(demand(slots), 0.0), ask(0, 0));
            let commit = CommitRequest {
                container: &name,
                application: runs,
                node: on,
                kind: ContainerKind::DEFAULT_EXECUTOR,
                request: request(0, 0),
                may_refuse: false,
                start_ms: 0,
            };
            assert!(matches!(cluster.commit(commit, 0), Commit::Placed(_)));
            cluster.application_removed(runs);
        }
        numbers.push(on);
    }
    let applications = waiting_ones.iter().enumerate().map(|(index, waits)| {
        let Waiting { executor, count, queue } = waits;
        let demands = executors(demand(&executor.slots), executor.margin);
        let priority = 100 - index as i32;
        let ask = Ask { count: *count, priority, ..ask(0, 0) };
        let application = waiting(&mut cluster, &format!("waits-{index}"), demands, ask);
        cluster.application_moved(application, queue);
        application
    });
    let applications = applications.collect();
    (cluster, numbers, applications)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_starts_and_who_would_delay_them_equal_the_reference(
        (peaks, mut nodes, waiting) in any_case(),
    ) {
        let (mut cluster, numbers, applications) = cluster_of(peaks, &nodes, &waiting);
        plan_starts(&mut cluster, 0);
        let starts = planned(&mut nodes, &waiting);
        for (application, starts) in applications.iter().zip(&starts) {
            let at_ms = |slot: usize| slot as i64 * i64::from(crate::SLOT_MS);
            let expected = starts.first().map(|(on, slot)| PlannedStart {
                node: numbers[*on],
                first_ms: at_ms(*slot),
                last_ms: starts.iter().map(|(_, slot)| at_ms(*slot)).max().unwrap(),
                containers: starts.len() as u32,
            });
            prop_assert_eq!(PlannedStart::of(&cluster, *application), expected);
        }
        for (node, number) in nodes.iter().zip(&numbers) {
            let named = cluster.round(*number, request(16, 16), 0).unwrap();
            let alone = Node { placed: Vec::new(), ..node.clone() };
            let may_go: Vec<_> = (0..waiting.len())
                .filter(|which| waiting[*which].executor.fits(0, &|slot| alone.left(slot, &waiting)))
                .filter(|which| !delays(node, *which, &waiting))
                .map(|which| applications[which])
                .collect();
            prop_assert_eq!(named, may_go, "on {:?}", number);
        }
    }
}
