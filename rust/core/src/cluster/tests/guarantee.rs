//! With CapacityScheduler's limits and its preemption monitor around the core, every queue gets its guarantee about as
//! soon as by CapacityScheduler alone, or its share of the CPU, and none takes more than its maximum.

mod setups;
mod surroundings;

use proptest::prelude::*;

use super::*;
use setups::{ApplicationSetup, QueueSetup};
use surroundings::Surroundings;

const NODE_MB: u64 = 8_000;
/// The largest container.
const LARGEST_MB: u64 = 1_000;
/// CapacityScheduler alone delivers the guarantee within this many rounds of the monitor.
const MOST_ROUNDS: u32 = 200;

/// Rounds of the monitor from the choice of a container to its end.
const ROUNDS_OF_A_PREEMPTION: u32 = 6;

/// How a guarantee was delivered.
#[derive(Debug, Clone, Copy)]
struct Delivered {
    rounds: u32,
    /// How many times the monitor had to choose for it when the queue asked.
    preemptions: u32,
}

/// Within how many rounds the guarantee has to be delivered: in twice the time, and the preemptions of what other queues
/// hold more than under CapacityScheduler alone, and of one more. The monitor may choose these first, and they may free
/// next to nothing.
fn may_take(alone: Delivered, preemptions: u32) -> u32 {
    let more = preemptions.saturating_sub(alone.preemptions);
    2 * alone.rounds + 3 + ROUNDS_OF_A_PREEMPTION * (more + 1)
}

/// Applications of a queue. Those of the last queue ask for few containers until it asks for its guarantee.
fn applications(asks: Vec<u32>) -> impl Strategy<Value = Vec<ApplicationSetup>> {
    let ratio = prop::sample::select(vec![None, Some(0.004), Some(0.3), Some(1.0)]);
    let count = || prop::sample::select(asks.clone());
    let request_mb = prop::sample::select(vec![250, 500, LARGEST_MB]);
    let between_peaks = prop::sample::select(vec![0.1, 0.5, 1.0]);
    let cpu_cores = prop::sample::select(vec![0.01, 2.0, 6.0]);
    let application = (ratio, request_mb, between_peaks, cpu_cores, [count(), count()]).prop_map(
        |(known_ratio, request_mb, between_peaks, cpu_cores, asks)| ApplicationSetup {
            known_ratio,
            request_mb,
            between_peaks,
            cpu_cores,
            asks,
        },
    );
    prop::collection::vec(application, 1..4)
}

fn queues() -> impl Strategy<Value = Vec<QueueSetup>> {
    let past_ratio = || prop::sample::select(vec![None, Some(0.004), Some(0.3)]);
    let queue = |asks| (1..4_u32, 0..3_u32, past_ratio(), applications(asks));
    let busy = prop::collection::vec(queue(vec![0, 5, 30, 500]), 1..3);
    (busy, queue(vec![0, 2, 5])).prop_map(|(mut queues, mut last)| {
        let requests = queues.iter().flat_map(|(_, _, _, busy)| busy).map(|it| it.request_mb);
        // What is preempted leaves room for one of the last queue; CapacityScheduler reserves nodes for larger ones.
        let smallest_mb = requests.min().unwrap_or(LARGEST_MB);
        last.3.iter_mut().for_each(|it| it.request_mb = it.request_mb.min(smallest_mb));
        queues.push(last);
        let weights: u32 = queues.iter().map(|it| it.0).sum();
        let setups = queues.into_iter().enumerate().map(|(number, queue)| {
            let (weight, more, past_ratio, applications) = queue;
            let capacity = f64::from(weight) / f64::from(weights);
            let maximum = (capacity * f64::from(1 + more)).min(1.0);
            let name = format!("root.{number}");
            QueueSetup { name, capacity, maximum, past_ratio, applications }
        });
        setups.collect()
    })
}

/// Rounds of the monitor until the last queue has its guarantee of the machines, once every application of it asks
/// for more than that. Before, all queues are busy for 40 s.
fn rounds_to_deliver(
    mut surroundings: Surroundings,
    at_most: impl FnOnce(u32) -> u32,
) -> Result<Delivered, String> {
    let last = surroundings.queues.len() - 1;
    for second in 0..40 {
        match second {
            0 => surroundings.ask_for_more(|_, setup| setup.asks[0]),
            20 => surroundings.ask_for_more(|_, setup| setup.asks[1]),
            _ => {}
        }
        surroundings.second();
        surroundings.check_limits();
    }
    let before = surroundings.state();
    surroundings.ask_for_more(|(queue, _), _| if queue == last { 2_000 } else { 0 });
    let guaranteed = surroundings.queues[last].capacity * surroundings.physical_mb() as f64;
    // Less than a container may be left over on each node, and of each queue's share.
    let largest_mb =
        |queue: &QueueSetup| queue.applications.iter().map(|it| it.request_mb).max().unwrap();
    let nodes = surroundings.physical_mb() / NODE_MB;
    let left_over = largest_mb(&surroundings.queues[last]) * nodes
        + surroundings.queues.iter().map(largest_mb).sum::<u64>();
    let wanted = (guaranteed as u64).saturating_sub(left_over);
    let preemptions = surroundings.preemptions_for(last, wanted);
    let at_most = at_most(preemptions);
    match surroundings.rounds_until(last, wanted, at_most) {
        Some(rounds) => Ok(Delivered { rounds, preemptions }),
        None => {
            let after = surroundings.state();
            Err(format!("{at_most} rounds: wanted {wanted}\nbefore {before}\nafter  {after}"))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_queue_gets_its_guarantee_and_no_queue_more_than_its_maximum(
        nodes in 2..5_usize,
        queues in queues(),
    ) {
        let surroundings =
            |enforce| Surroundings::new(enforce, NODE_MB, nodes, queues.clone(), 10);
        let alone = rounds_to_deliver(surroundings(false), |_| MOST_ROUNDS);
        let Ok(alone) = alone else {
            return Err(TestCaseError::fail(format!("CapacityScheduler alone: {alone:?}")));
        };
        let at_most = |preemptions| may_take(alone, preemptions);
        let raised = rounds_to_deliver(surroundings(true), at_most);
        prop_assert!(raised.is_ok(), "{}", raised.unwrap_err());
    }
}

#[test]
fn small_containers_that_wait_in_a_full_queue_take_no_guarantee() {
    let application = |known_ratio, request_mb, ask| ApplicationSetup {
        known_ratio,
        request_mb,
        between_peaks: 1.0,
        cpu_cores: 0.01,
        asks: [ask, 0],
    };
    let queue = |name: &str, applications| QueueSetup {
        name: name.to_owned(),
        capacity: 0.5,
        maximum: 1.0,
        past_ratio: None,
        applications,
    };
    let surroundings = |enforce| {
        let a = vec![application(None, 1_875, 4), application(Some(1.0 / 256.0), 256, 5_000)];
        let queues = vec![queue("root.a", a), queue("root.b", vec![application(None, 1_000, 4)])];
        let mut surroundings = Surroundings::new(enforce, NODE_MB, 1, queues, 100);
        // The large containers run before the small ones wait.
        surroundings.ask_for_more(|of, setup| if of == (0, 0) { setup.asks[0] } else { 0 });
        for _ in 0..10 {
            surroundings.second();
        }
        surroundings.ask_for_more(|of, setup| if of == (0, 1) { setup.asks[0] } else { 0 });
        surroundings
    };
    let rounds = |mut surroundings: Surroundings, at_most| {
        for _ in 0..60 {
            surroundings.second();
            surroundings.check_limits();
        }
        surroundings.ask_for_more(|(queue, _), setup| if queue == 1 { setup.asks[0] } else { 0 });
        // Less than a container may be left over.
        let rounds = surroundings.rounds_until(1, 3_000, at_most);
        rounds.ok_or_else(|| surroundings.state())
    };
    let rounds_alone = rounds(surroundings(false), MOST_ROUNDS).unwrap();
    let at_most = may_take(Delivered { rounds: rounds_alone, preemptions: 0 }, 0);
    let raised = rounds(surroundings(true), at_most);
    assert!(raised.is_ok(), "{at_most} rounds: {}", raised.unwrap_err());
}
