//! An application that nobody knows yet is planned by what other applications used of their requests.
//!
//! One application is one observation, by its latest run. The next new application is taken for another
//! draw from the same cluster, so the k-th smallest of n observed shares covers its own with a probability of
//! at least k ÷ (n + 1), whatever their distribution (Vovk, Gammerman and Shafer, Algorithmic Learning in a
//! Random World, 2005, section 2.2). Memory cannot be postponed and is planned by such a bound; CPU, network
//! and disk by their means, without a margin: they can be postponed, and a node has executors of many
//! applications.

use std::collections::HashMap;

use elastane_core::cluster::{Basis, Predicted};
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};
use elastane_runs::{EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, Run, RunSeries};

use crate::recurring::PastRun;
use crate::settings::Settings;
use crate::statistics::mean;

/// The probability with which the planned memory covers the largest that an executor of a new application holds.
/// A node has executors of several applications, whose peaks seldom meet.
const COVERED: f64 = 0.8;

/// Fewer applications say too little, whatever they say.
const LEAST_APPLICATIONS: usize = 9;

/// Those whose runs ended before are forgotten: clusters change.
const MOST_APPLICATIONS: usize = 200;

/// Executors start alike whatever they do later: they load classes and compile. 6 s.
const START_SLOTS: usize = 2;

/// Requests differ by queue and size, and users may invent any.
const MOST_MADE: usize = 1_000;

/// What other applications used of their requests lately.
#[derive(Debug, Default)]
pub struct Others {
    latest: Vec<Other>,
    /// Plans since the latest change, so that like applications share one series.
    made: HashMap<Asked, Vec<(ContainerKind, OthersPlan)>>,
}

/// A plan for the executors of a new application.
#[derive(Debug, Clone, PartialEq)]
pub struct OthersPlan {
    /// For the mean length; the same in every slot, but for the CPU of the start.
    pub demand: Demand,
    /// The number of applications that it comes from.
    pub applications: usize,
    /// Whether all of them ran in the same queue.
    pub of_queue: bool,
}

#[derive(Debug)]
struct Other {
    key: String,
    ended_ms: i64,
    queue: Option<String>,
    kind: ContainerKind,
    /// The largest part of the requested memory that an executor held.
    memory_share: f64,
    /// Cores for each virtual core that was requested, at the start and, where it lived on, later.
    start_cores_share: f64,
    later_cores_share: Option<f64>,
    network_bytes_per_s: f64,
    disk_bytes_per_s: f64,
    length_slots: f64,
}

/// What an application asks for: everything that its plan depends on, numbers as bits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    queue: Option<String>,
    cores: u64,
    memory_bytes: u64,
}

impl Others {
    /// The latest run of an application that succeeded. Counts if its request is known, and if it had executors of
    /// one kind: the settings have the request of the kind that was asked for first.
    pub fn ran(&mut self, run: &Run, queue: Option<&str>, settings: &Settings) {
        let mut executors = run.series.iter().filter(|it| !it.kind.is_application_master());
        let (Some(series), None) = (executors.next(), executors.next()) else {
            return;
        };
        let Some(other) = Other::of(run, queue, series, settings) else {
            return;
        };
        self.latest.retain(|it| it.key != other.key);
        self.latest.push(other);
        if self.latest.len() > MOST_APPLICATIONS {
            let ends = self.latest.iter().map(|it| it.ended_ms).enumerate();
            if let Some((oldest, _)) = ends.min_by_key(|(_, ended_ms)| *ended_ms) {
                self.latest.swap_remove(oldest);
            }
        }
        self.made.clear();
    }

    /// The plans for executors of an application with these settings, for each kind that enough other applications
    /// had: those of its queue, or of the whole cluster where there are too few. Empty where its request is not
    /// known.
    pub fn plans(
        &mut self,
        queue: Option<&str>,
        settings: &Settings,
    ) -> Vec<(ContainerKind, OthersPlan)> {
        let Some((cores, memory_bytes)) = request(settings) else {
            return Vec::new();
        };
        let asked = Asked {
            queue: queue.map(str::to_owned),
            cores: cores.to_bits(),
            memory_bytes: memory_bytes.to_bits(),
        };
        if let Some(made) = self.made.get(&asked) {
            return made.clone();
        }
        let mut kinds: Vec<_> = self.latest.iter().map(|it| it.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let plan = |kind| {
            let of_kind = || self.latest.iter().filter(move |it| it.kind == kind);
            let of_queue: Vec<_> =
                of_kind().filter(|it| queue.is_some() && it.queue.as_deref() == queue).collect();
            let is_enough = of_queue.len() >= LEAST_APPLICATIONS;
            let others = if is_enough { of_queue } else { of_kind().collect() };
            let demand = demand(&others, cores, memory_bytes)?;
            Some((kind, OthersPlan { demand, applications: others.len(), of_queue: is_enough }))
        };
        let plans: Vec<_> = kinds.into_iter().filter_map(plan).collect();
        if self.made.len() >= MOST_MADE {
            self.made.clear();
        }
        self.made.insert(asked, plans.clone());
        plans
    }
}

impl OthersPlan {
    /// What the core plans an executor by. It needs no margin: memory is a bound already, and the rest can be
    /// postponed.
    pub fn predicted(&self) -> Predicted {
        Predicted::of(self.demand.clone(), 0.0, Basis::Others)
    }

    /// The same with at least the memory that the application's own runs held, too few or too different as they are
    /// for a prediction.
    pub fn with_runs(&self, own: &[PastRun]) -> Self {
        let held = own.iter().map(|run| run.used.peak().memory_bytes).fold(0.0, f64::max);
        if held <= self.demand.peak().memory_bytes {
            return self.clone();
        }
        let raise = |slot: &Resources| Resources { memory_bytes: held, ..*slot };
        let slots: Vec<_> = self.demand.slots().iter().map(raise).collect();
        let raised = Demand::series(self.demand.slot_ms(), &slots);
        Self { demand: raised.unwrap_or_else(|_| self.demand.clone()), ..self.clone() }
    }
}

impl Other {
    fn of(run: &Run, queue: Option<&str>, series: &RunSeries, settings: &Settings) -> Option<Self> {
        let (cores, memory_bytes) = request(settings)?;
        let used = Demand::series(SLOT_MS, &series.slots).ok()?;
        let (mean, peak) = (used.mean(), used.peak());
        let (start, later) = series.slots.split_at(START_SLOTS.min(series.slots.len()));
        Some(Self {
            key: run.application_key.clone(),
            ended_ms: run.ended_ms,
            queue: queue.map(str::to_owned),
            kind: series.kind,
            memory_share: peak.memory_bytes / memory_bytes,
            start_cores_share: mean_cores(start) / cores,
            later_cores_share: (!later.is_empty()).then(|| mean_cores(later) / cores),
            network_bytes_per_s: mean.network_bytes_per_s,
            disk_bytes_per_s: mean.disk_bytes_per_s,
            length_slots: series.slots.len() as f64,
        })
    }
}

/// Virtual cores and memory of an executor.
fn request(settings: &Settings) -> Option<(f64, f64)> {
    let given = |name| settings.0.get(name).copied().filter(|it| it.is_finite() && *it > 0.0);
    Some((given(EXECUTOR_CORES)?, given(EXECUTOR_MEMORY_BYTES)?))
}

/// None where too few applications are known. No more memory than requested: that is what CapacityScheduler
/// plans by.
fn demand(others: &[&Other], cores: f64, memory_bytes: f64) -> Option<Demand> {
    let count = others.len();
    if count < LEAST_APPLICATIONS {
        return None;
    }
    let mut shares: Vec<f64> = others.iter().map(|it| it.memory_share).collect();
    shares.sort_unstable_by(f64::total_cmp);
    let rank = ((count + 1) as f64 * COVERED).ceil() as usize;
    let share = shares.get(rank - 1)?.min(1.0);
    let mean_of =
        |amount: fn(&Other) -> f64| mean(&others.iter().map(|it| amount(it)).collect::<Vec<_>>());
    let start = Resources {
        cpu_cores: cores * mean_of(|it| it.start_cores_share),
        memory_bytes: memory_bytes * share,
        network_bytes_per_s: mean_of(|it| it.network_bytes_per_s),
        disk_bytes_per_s: mean_of(|it| it.disk_bytes_per_s),
    };
    let later_shares: Vec<_> = others.iter().filter_map(|it| it.later_cores_share).collect();
    let later = Resources { cpu_cores: cores * mean(&later_shares), ..start };
    let length_slots = mean_of(|it| it.length_slots).round().max(1.0) as usize;
    let mut slots = vec![start; length_slots];
    // Without one that lived on there is no such slot.
    slots.iter_mut().skip(START_SLOTS).for_each(|slot| *slot = later);
    Demand::series(SLOT_MS, &slots).ok()
}

fn mean_cores(slots: &[Resources]) -> f64 {
    mean(&slots.iter().map(|slot| slot.cpu_cores).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
