//! What waits, by what makes a difference to a node: request and prediction. Applications that are
//! run again and again are of one kind, so there are few, however many wait.

use std::collections::HashMap;

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resource};

use crate::workload::ApplicationSpec;

/// The kinds of a workload's applications.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// By the application's place in the workload.
    by_application: Vec<usize>,
}

/// Applications that are alike to a node.
pub(super) struct Kind {
    pub(super) request: Request,
    /// None where nothing is predicted.
    pub(super) needed: Option<Needed>,
    /// How many of them wait.
    waiting: usize,
}

/// What an executor needs, with the margin, in slots of [`elastane_core::SLOT_MS`]: a series for
/// each resource.
pub(super) type Needed = [Vec<f64>; 4];

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
                needed: predicted.map(|demand| needed(demand, margin)),
                waiting: 0,
            });
            alike.push((predicted, kinds.len() - 1));
            kinds.len() - 1
        });
        let by_application = by_application.collect();
        Self {
            kinds,
            by_application,
        }
    }

    /// An application begins to wait; returns whether it is the only one of its kind.
    pub(super) fn begins_to_wait(&mut self, place: usize) -> bool {
        let kind = &mut self.kinds[self.by_application[place]];
        kind.waiting += 1;
        kind.waiting == 1
    }

    pub(super) fn waits_no_more(&mut self, place: usize) {
        self.kinds[self.by_application[place]].waiting -= 1;
    }

    /// The kind of an application.
    pub(super) fn of(&self, place: usize) -> &Kind {
        &self.kinds[self.by_application[place]]
    }

    /// Those of which an application waits.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.iter().filter(|kind| kind.waiting > 0)
    }
}

fn needed(demand: &Demand, margin: f64) -> Needed {
    let demand = demand.on_grid();
    Resource::ALL.map(|resource| {
        let slots = demand.slots().iter();
        slots
            .map(|slot| slot.get(resource) * (1.0 + margin))
            .collect()
    })
}
