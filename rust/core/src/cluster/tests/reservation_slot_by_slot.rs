//! [`Reservation`] against a plain slot-by-slot reference.

use proptest::prelude::*;

use super::*;
use crate::cluster::patience::Reservation;
use crate::cluster::ranking::{Contender, Rank, Urgency};
use crate::cluster::waiting::Line;
use crate::left::Left;
use crate::need::Need;
use crate::policy::Turn;
use crate::timeline::Timeline;

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

/// A node with these running executors.
struct Node(Vec<Vec<Units>>);

impl Node {
    fn left(&self, slot: usize) -> Units {
        let at = |slots: &Vec<Units>, i: usize| slots.get(slot).map_or(0, |slot| slot[i]);
        std::array::from_fn(|i| CAPACITY[i] - self.0.iter().map(|slots| at(slots, i)).sum::<i64>())
    }

    fn busy_slots(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn in_fixed_point(&self) -> Left {
        let running: Vec<_> =
            self.0.iter().map(|slots| crate::Running::new(0, demand(slots))).collect();
        let mut left = Left::default();
        let capacity = crate::amounts::Amounts::rounded_down(resources(CAPACITY));
        left.update(capacity, &Timeline::of(0, &running));
        left
    }
}

fn contender(application: u32, score: f64) -> Contender {
    let line = Line {
        request: Request::default(),
        since_ms: 0,
        deadline_ms: None,
        queue: 0,
        application: ApplicationId(application),
        priority: 0,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        listed_first_since_ms: None,
        executors: 1,
        makes_progress: false,
        is_ordered: true,
        asks_countables: false,
    };
    Contender::new(0, &line, Rank::new(&line, Urgency::Usual, Turn::Usual, score))
}

fn slots(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Units>> {
    let slot = (0..14_i64, 0..9_i64, 0..16_i64, 0..12_i64)
        .prop_map(|(cpu, memory, network, disk)| [cpu * 5, memory, network, disk]);
    prop::collection::vec(slot, count)
}

fn executor(peaks: Peaks) -> impl Strategy<Value = Executor> {
    let margin = prop::sample::select(vec![0.0, 1.0]);
    (slots(1..8), margin).prop_map(move |(slots, margin)| Executor { slots, margin, peaks })
}

/// A busy node, the owner of a reservation, and another application.
fn any_case() -> impl Strategy<Value = (Vec<Vec<Units>>, Executor, Executor)> {
    let peaks = prop::sample::select(vec![Peaks::Strict, Peaks::Soft]);
    let running = || prop::collection::vec(slots(1..12), 1..3);
    peaks.prop_flat_map(move |peaks| (running(), executor(peaks), executor(peaks)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_planned_start_and_the_blocked_contenders_equal_the_reference(
        (running, owner, other) in any_case(),
    ) {
        let node = Node(running);
        let left = node.in_fixed_point();
        let demands = [demand(&owner.slots), demand(&other.slots)];
        let [need, other_need] = [(&demands[0], owner.margin), (&demands[1], other.margin)]
            .map(|(demand, margin)| Need::predicted(demand, margin, resources(CAPACITY)));
        let reservation = Reservation::new(&contender(1, 0.1), &need, &left, owner.peaks);

        let start = (1..=node.busy_slots()).find(|start| owner.fits(*start, &|slot| node.left(slot)));
        prop_assert_eq!(reservation.is_some(), start.is_some());
        let (Some(reservation), Some(start)) = (reservation, start) else {
            return Ok(());
        };
        let most = (0..other.slots.len())
            .map(|slot| other_need.needed(slot))
            .reduce(crate::amounts::Amounts::max)
            .unwrap();
        let is_blocked = reservation.blocks(&contender(2, 0.2), most, &other_need);
        let beside = |slot: usize| {
            let (left, taken) = (node.left(slot), other.at(slot));
            std::array::from_fn(|i| left[i] - taken[i])
        };
        prop_assert_eq!(!is_blocked, owner.fits(start, &beside), "starts in {}", start);
        prop_assert!(!reservation.blocks(&contender(0, 0.1), most, &other_need), "it precedes the owner");
    }
}
