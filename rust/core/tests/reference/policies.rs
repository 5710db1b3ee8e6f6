//! Plain references of each policy's fit and score.

use elastane_core::policy::{Turn, Waiting};
use elastane_core::{Demand, Resource, Resources, Running};

use super::{Asked, END_MS, NOW_MS, SLOT, Scene, demanded, end_ms, outlives_its_prediction, slots};

const SLOT_S: f64 = SLOT as f64 / 1_000.0;

/// Far below the smallest difference of two amounts compared here.
pub const ROUNDING: f64 = 1e-9;

pub fn fits(policy: &str, scene: &Scene, asked: &Asked) -> bool {
    match policy {
        "minfrag" | "trc" => in_every_slot(scene, &asked.needed, &Resource::ALL),
        "elastane" => fits_softly(scene, &asked.needed),
        "ursa" | "ursa-srjf" => ursa_fits(scene, asked),
        _ => requests_fit(scene, asked, |_| 1.0),
    }
}

/// The score as people read it; [`highest_wins`] tells whether the smallest or the largest wins.
pub fn score(policy: &str, scene: &Scene, asked: &Asked) -> f64 {
    match policy {
        "minfrag" => shares(scene, &asked.demand).into_iter().fold(0.0, f64::max),
        "trc" => shares(scene, &asked.demand).into_iter().sum(),
        "elastane" => waiting_nodes(scene, asked),
        "prophet" => {
            let [network, disk] =
                [Resource::Network, Resource::Disk].map(|r| prophet(scene, &asked.demand, r));
            network.hypot(disk)
        }
        "ursa" => ursa(scene, asked) + seconds_since(asked.waiting.submitted_ms),
        "ursa-srjf" => ursa(scene, asked) + srjf(&asked.waiting),
        unknown => panic!("{unknown} has no reference"),
    }
}

pub fn highest_wins(policy: &str) -> bool {
    !["elastane", "minfrag", "trc", "prophet"].contains(&policy)
}

pub fn seconds_since(since_ms: i64) -> f64 {
    (NOW_MS - since_ms) as f64 / 1_000.0
}

fn in_every_slot(scene: &Scene, needed: &Demand, resources: &[Resource]) -> bool {
    let life_ms = needed.duration_ms().unwrap_or(END_MS);
    slots(life_ms).all(|offset_ms| {
        let (need, left) = (demanded(needed, offset_ms), scene.left(offset_ms));
        let fits = |resource: Resource| need.get(resource) <= left.get(resource) + ROUNDING;
        resources.iter().all(|resource| !scene.has(*resource) || fits(*resource))
    })
}

/// CPU and disk may exceed the available resources by a fifth of the node, the network by three fifths, memory
/// by nothing. CPU of an executor that needs more than half of the node is compared in total.
fn fits_softly(scene: &Scene, needed: &Demand) -> bool {
    let Some(life_ms) = needed.duration_ms() else {
        return in_every_slot(scene, needed, &Resource::ALL);
    };
    let part = |resource| match resource {
        Resource::Cpu | Resource::Disk => 0.2,
        Resource::Memory => 0.0,
        Resource::Network => 0.6,
    };
    let missing = |resource: Resource, offset_ms| {
        demanded(needed, offset_ms).get(resource) - scene.left(offset_ms).get(resource)
    };
    let has_peaks_below = |resource: Resource| {
        let allowed = part(resource) * scene.capacity.get(resource) + ROUNDING;
        slots(life_ms).all(|offset_ms| missing(resource, offset_ms) <= allowed)
    };
    let fits_in_total = |resource: Resource| {
        let total: f64 = slots(life_ms).map(|offset_ms| missing(resource, offset_ms)).sum();
        total <= life_ms as f64 * ROUNDING
    };
    let is_large = peak(needed, Resource::Cpu) > scene.capacity.get(Resource::Cpu) / 2.0;
    Resource::ALL.into_iter().all(|resource| {
        let fits = if resource == Resource::Cpu && is_large {
            fits_in_total(resource)
        } else {
            has_peaks_below(resource)
        };
        !scene.has(resource) || fits
    })
}

/// Mean demand of the waiting executors, in nodes.
fn waiting_nodes(scene: &Scene, asked: &Asked) -> f64 {
    let life_ms = asked.demand.duration_ms().unwrap_or(SLOT);
    let mean_share = |resource: Resource| {
        let total: f64 =
            slots(life_ms).map(|offset_ms| demanded(&asked.demand, offset_ms).get(resource)).sum();
        total / (life_ms / SLOT) as f64 / scene.capacity.get(resource)
    };
    let known = Resource::ALL.into_iter().filter(|resource| scene.has(*resource));
    let most = known.map(mean_share).fold(0.0, f64::max);
    most * f64::from(asked.waiting.executors)
}

pub fn requests_fit(scene: &Scene, asked: &Asked, factor: impl Fn(Resource) -> f64) -> bool {
    [Resource::Cpu, Resource::Memory].into_iter().all(|resource| {
        let booked = scene.booked.get(resource) + asked.request.get(resource);
        let bookable = factor(resource) * scene.capacity.get(resource);
        !scene.has(resource) || booked <= bookable + ROUNDING
    })
}

pub fn peak(demand: &Demand, resource: Resource) -> f64 {
    let slots = demand.slots().iter();
    slots.map(|slot| slot.get(resource)).fold(0.0, f64::max)
}

/// The share of each resource that remains up to the first predicted end.
fn shares(scene: &Scene, demand: &Demand) -> [f64; 4] {
    let predicted = scene.running.iter().filter(|one| !outlives_its_prediction(one));
    let horizon_ms = predicted
        .filter_map(end_ms)
        .chain(demand.duration_ms())
        .min()
        .unwrap_or(i64::from(demand.slot_ms()));
    Resource::ALL.map(|resource| {
        let capacity = scene.capacity.get(resource);
        if capacity == 0.0 {
            return 0.0;
        }
        let remaining: f64 =
            slots(horizon_ms).map(|at| (scene.left(at) - demanded(demand, at)).get(resource)).sum();
        remaining / (capacity * (horizon_ms / SLOT) as f64)
    })
}

/// (1 − η) · O + η · F of one resource.
fn prophet(scene: &Scene, demand: &Demand, resource: Resource) -> f64 {
    if !scene.has(resource) {
        return 0.0;
    }
    let until_ms = demand.duration_ms().unwrap_or_else(|| {
        let last_change_ms =
            slots(END_MS).skip(1).filter(|at| scene.left(*at) != scene.left(at - SLOT)).last();
        last_change_ms.unwrap_or(0) + i64::from(demand.slot_ms())
    });
    // The stage of each slot, then its weight.
    let mut stages = vec![0_u32];
    for at in slots(until_ms).skip(1) {
        let changed = demanded(demand, at) != demanded(demand, at - SLOT);
        stages.push(stages[stages.len() - 1] + u32::from(changed));
    }
    let count = f64::from(stages[stages.len() - 1] + 1);
    let (mut fragmented, mut over) = (0.0, 0.0);
    for (at, stage) in slots(until_ms).zip(stages) {
        let weight_s = (1.0 - f64::from(stage) / count) * SLOT_S;
        let (need, left) = (demanded(demand, at), scene.left(at));
        let above = need.get(resource) - left.get(resource);
        if above > 0.0 {
            over += weight_s * above;
        } else {
            fragmented -= weight_s * above;
        }
    }
    (0.7 * over + 0.3 * fragmented) / scene.capacity.get(resource)
}

const WORKED_OFF: [Resource; 3] = [Resource::Cpu, Resource::Network, Resource::Disk];

fn ursa_fits(scene: &Scene, asked: &Asked) -> bool {
    let has_idle = |resource: &Resource| {
        !scene.has(*resource)
            || work(&asked.needed, 0).get(*resource) == 0.0
            || idle(scene, *resource) > 0.0
    };
    in_every_slot(scene, &asked.needed, &[Resource::Memory]) && WORKED_OFF.iter().all(has_idle)
}

/// F and the bonus.
fn ursa(scene: &Scene, asked: &Asked) -> f64 {
    let gain = |resource: Resource| {
        let idle = idle(scene, resource);
        let (expected_s, rate, _) = rates(scene, resource);
        let takes_s = time(work(&asked.demand, 0).get(resource), rate);
        idle * f64::min(idle, takes_s / expected_s)
    };
    let known = WORKED_OFF.into_iter().filter(|resource| scene.has(*resource));
    let bonus = if asked.waiting.whole { 100.0 } else { 0.0 };
    known.map(gain).sum::<f64>() + bonus
}

/// D.
fn idle(scene: &Scene, resource: Resource) -> f64 {
    let (expected_s, rate, assigned) = rates(scene, resource);
    let core_is_idle = scene.left(0).cpu_cores >= 1.0;
    let assigned_s =
        if resource == Resource::Cpu && core_is_idle { 0.0 } else { time(assigned, rate) };
    f64::max(0.0, 1.0 - assigned_s / expected_s)
}

/// EPT, the rate and the assigned work.
fn rates(scene: &Scene, resource: Resource) -> (f64, f64, f64) {
    match scene.rates {
        Some(rates) => {
            (rates.expected_processing_s, rates.per_s.get(resource), rates.assigned.get(resource))
        }
        None => {
            let left_of = |one: &Running| {
                if outlives_its_prediction(one) {
                    let slot_s = f64::from(one.demand.slot_ms()) / 1_000.0;
                    one.demand.slots()[one.demand.slots().len() - 1].get(resource) * slot_s
                } else {
                    work(&one.demand, NOW_MS - one.start_ms).get(resource)
                }
            };
            let assigned = scene.running.iter().map(left_of).sum();
            (60.0, scene.capacity.get(resource), assigned)
        }
    }
}

fn time(work: f64, rate: f64) -> f64 {
    if work == 0.0 { 0.0 } else { work / rate }
}

/// The integral of a demand from `from_ms` after its start on.
fn work(demand: &Demand, from_ms: i64) -> Resources {
    match demand.duration_ms() {
        Some(life_ms) => slots(life_ms - from_ms).fold(Resources::ZERO, |sum, offset_ms| {
            sum + demanded(demand, from_ms + offset_ms) * SLOT_S
        }),
        None => demanded(demand, 0).map(|amount| if amount > 0.0 { f64::INFINITY } else { 0.0 }),
    }
}

fn srjf(waiting: &Waiting) -> f64 {
    let left = waiting.remaining_share.unwrap_or(Resources::from_array([1.0; 4]));
    // 1 − (1 − x)² is (2 − x) · x: the fall of the squared load.
    let lost: f64 =
        WORKED_OFF.into_iter().map(|resource| 1.0 - (1.0 - left.get(resource)).powi(2)).sum();
    1.0 / lost.max(f64::EPSILON)
}

/// Prophet's turns.
pub fn turns(waiting: &[Waiting]) -> Vec<Turn> {
    let wait = |one: &Waiting| (NOW_MS - one.submitted_ms) as f64;
    let all: f64 = waiting.iter().map(wait).sum();
    let turn = |one: &Waiting| {
        let longer = waiting.iter().filter(|other| wait(other) > wait(one)).count();
        if wait(one) * waiting.len() as f64 > 3.0 * all {
            Turn::First
        } else if one.whole && 2 * longer < waiting.len() {
            Turn::Usual
        } else {
            Turn::NotNow
        }
    };
    waiting.iter().map(turn).collect()
}
