//! Applications by the two things that make a difference to a node: request and prediction. Applications
//! that recur are of one kind, so there are few kinds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use elastane_core::Demand;
use elastane_core::cluster::{Predicted, Request};

use crate::workload::ApplicationSpec;

/// The kinds of a workload's applications.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// By the application's place in the workload.
    by_application: Vec<usize>,
    /// The numbers of those of which an application waits.
    waiting: BTreeSet<usize>,
}

/// Applications that are alike to a node.
pub(super) struct Kind {
    pub(super) request: Request,
    pub(super) predicted: Option<Predicted>,
    /// Those that wait: since when, and their places in the workload.
    waiting: BTreeSet<(i64, usize)>,
}

/// The prediction for a kind, and the number of the kind.
type PredictedKind<'a> = (Option<&'a Demand>, usize);

impl Kinds {
    pub(super) fn new(specs: &[ApplicationSpec], margin: f64) -> Self {
        let mut kinds = Vec::new();
        let mut by_request: HashMap<(u64, u32), Vec<PredictedKind>> = HashMap::new();
        let by_application = specs.iter().map(|spec| {
            let request = spec.request;
            let alike = by_request.entry((request.memory_bytes, request.vcores)).or_default();
            let predicted = spec.predicted.as_ref();
            if let Some((_, known)) = alike.iter().find(|(other, _)| *other == predicted) {
                return *known;
            }
            kinds.push(Kind {
                request,
                predicted: predicted.map(|demand| Predicted {
                    demand: demand.on_grid(),
                    margin,
                    profile: Arc::from(spec.name.as_str()),
                }),
                waiting: BTreeSet::new(),
            });
            alike.push((predicted, kinds.len() - 1));
            kinds.len() - 1
        });
        let by_application = by_application.collect();
        Self { kinds, by_application, waiting: BTreeSet::new() }
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

    /// Since when the application waits that has waited longest.
    pub(super) fn waits_since_ms(&self) -> Option<i64> {
        let kinds = self.waiting();
        kinds.filter_map(|(_, kind)| kind.waits_since_ms()).min()
    }

    /// Those of which an application waits, with their numbers.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (usize, &Kind)> {
        self.waiting.iter().map(|number| (*number, &self.kinds[*number]))
    }
}

impl Kind {
    /// Since when the one of them waits that has waited longest.
    pub(super) fn waits_since_ms(&self) -> Option<i64> {
        self.waiting.first().map(|(since_ms, _)| *since_ms)
    }
}
