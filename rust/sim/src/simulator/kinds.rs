//! What waits, by what makes a difference to a node: request and prediction. Applications that are
//! run again and again are of one kind, so there are few, however many wait.

use std::collections::{BTreeSet, HashMap};

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources};

use crate::workload::ApplicationSpec;

/// The kinds of a workload's applications.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// By the application's place in the workload.
    by_application: Vec<usize>,
    /// The numbers of those of which there are several applications.
    recurring: Vec<usize>,
    /// The numbers of those of which an application waits.
    waiting: BTreeSet<usize>,
}

/// Applications that are alike to a node.
pub(super) struct Kind {
    pub(super) request: Request,
    /// None where nothing is predicted.
    pub(super) needed: Option<Needed>,
    /// Those that wait: since when, and their places in the workload.
    waiting: BTreeSet<(i64, usize)>,
}

/// What an executor needs in each slot of [`elastane_core::SLOT_MS`].
pub(super) struct Needed {
    /// With the margin.
    pub(super) slots: Vec<[f64; 4]>,
    /// The most in each [`SLOTS_OF_A_BLOCK`] of them.
    pub(super) blocks: Vec<[f64; 4]>,
    /// The most CPU in a slot.
    pub(super) most_cores: f64,
    /// The CPU of all slots together.
    total_cores: f64,
}

/// What is predicted for a kind, and its number.
type Known<'a> = (Option<&'a Demand>, usize);

impl Kinds {
    pub(super) fn new(specs: &[ApplicationSpec], margin: f64) -> Self {
        let mut kinds = Vec::new();
        let mut by_request: HashMap<(u64, u32), Vec<Known>> = HashMap::new();
        let by_application = specs.iter().map(|spec| {
            let request = spec.request;
            let alike = by_request
                .entry((request.memory_bytes, request.vcores))
                .or_default();
            let predicted = spec.predicted.as_ref();
            if let Some((_, known)) = alike.iter().find(|(other, _)| *other == predicted) {
                return *known;
            }
            kinds.push(Kind {
                request,
                needed: predicted.map(|demand| Needed::of(demand, margin)),
                waiting: BTreeSet::new(),
            });
            alike.push((predicted, kinds.len() - 1));
            kinds.len() - 1
        });
        let by_application: Vec<usize> = by_application.collect();
        let mut applications = vec![0_u32; kinds.len()];
        for number in &by_application {
            applications[*number] += 1;
        }
        Self {
            recurring: (0..kinds.len())
                .filter(|number| applications[*number] > 1)
                .collect(),
            kinds,
            by_application,
            waiting: BTreeSet::new(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// An application begins to wait; returns whether it is the only one of its kind.
    pub(super) fn begins_to_wait(&mut self, place: usize, since_ms: i64) -> bool {
        let number = self.number_of(place);
        self.kinds[number].waiting.insert((since_ms, place));
        self.waiting.insert(number)
    }

    /// An application that has waited since then waits no more.
    pub(super) fn waits_no_more(&mut self, place: usize, since_ms: i64) {
        let number = self.number_of(place);
        let waiting = &mut self.kinds[number].waiting;
        waiting.remove(&(since_ms, place));
        if waiting.is_empty() {
            self.waiting.remove(&number);
        }
    }

    /// The number of an application's kind.
    pub(super) fn number_of(&self, place: usize) -> usize {
        self.by_application[place]
    }

    /// A kind by its number.
    pub(super) fn kind(&self, number: usize) -> &Kind {
        &self.kinds[number]
    }

    /// What is predicted for those of which there are several applications, with their numbers.
    pub(super) fn recurring(&self) -> impl Iterator<Item = (usize, &Needed)> {
        self.recurring.iter().filter_map(|number| {
            let needed = self.kinds[*number].needed.as_ref()?;
            Some((*number, needed))
        })
    }

    /// Those of which an application waits, with their numbers.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (usize, &Kind)> {
        self.waiting
            .iter()
            .map(|number| (*number, &self.kinds[*number]))
    }
}

impl Kind {
    /// Since when the one of them waits that has waited longest.
    pub(super) fn waits_since_ms(&self) -> Option<i64> {
        self.waiting.first().map(|(since_ms, _)| *since_ms)
    }

    /// Since when the first of them waits that began to after `ms`.
    pub(super) fn first_after_ms(&self, ms: i64) -> Option<i64> {
        let after = (ms.saturating_add(1), 0);
        self.waiting
            .range(after..)
            .next()
            .map(|(since_ms, _)| *since_ms)
    }
}

/// So many slots of an executor are first compared as one.
pub(super) const SLOTS_OF_A_BLOCK: usize = 16;

impl Needed {
    fn of(demand: &Demand, margin: f64) -> Self {
        let demand = demand.on_grid();
        let slots = demand.slots().iter();
        Self::in_slots(slots.map(|slot| *slot * (1.0 + margin)).collect())
    }

    /// The CPU over its life, on a node of so many cores.
    pub(super) fn cores_in_total(&self, node_cores: f64) -> f64 {
        if self.most_cores <= node_cores {
            return self.total_cores;
        }
        self.slots.iter().map(|slot| slot[0].min(node_cores)).sum()
    }

    pub(super) fn in_slots(slots: Vec<Resources>) -> Self {
        let most = |slots: &[Resources]| {
            let most = slots.iter().copied().reduce(Resources::max);
            most.unwrap_or_default()
        };
        Self {
            most_cores: most(&slots).cpu_cores,
            total_cores: slots.iter().map(|slot| slot.cpu_cores).sum(),
            blocks: slots
                .chunks(SLOTS_OF_A_BLOCK)
                .map(|block| most(block).to_array())
                .collect(),
            slots: slots.into_iter().map(Resources::to_array).collect(),
        }
    }
}
