//! Applications by the two things that make a difference to a node: request and prediction. Applications
//! that recur are of one kind, so there are few kinds.

use std::collections::BTreeSet;
use std::sync::Arc;

use elastane_core::cluster::{Basis, Predicted, Request};

use super::newcomers::Newcomers;
use super::settings::Settings;
use crate::workload::ApplicationSpec;

/// The kinds of a workload's applications.
pub(super) struct Kinds {
    kinds: Vec<DemandKind>,
    /// By the application's place in the workload.
    by_application: Vec<usize>,
    /// The kinds with a waiting application, by number.
    waiting: BTreeSet<usize>,
}

/// Applications between which a node sees no difference.
pub(super) struct DemandKind {
    pub(super) request: Request,
    pub(super) predicted: Option<Predicted>,
    /// The waiting applications: since when each waits, and its place in the workload.
    waiting: BTreeSet<(i64, usize)>,
}

impl Kinds {
    pub(super) fn new(specs: &[ApplicationSpec], settings: &Settings) -> Self {
        let mut newcomers = settings.others.then(|| Newcomers::new(specs));
        // The first application of each kind.
        let mut first: Vec<&ApplicationSpec> = Vec::new();
        let by_application = specs.iter().map(|spec| {
            let is_alike = |other: &&ApplicationSpec| {
                other.request == spec.request && other.predicted == spec.predicted
            };
            first.iter().position(is_alike).unwrap_or_else(|| {
                first.push(spec);
                first.len() - 1
            })
        });
        let by_application = by_application.collect();
        let kinds = first.into_iter().map(|spec| DemandKind {
            request: spec.request,
            predicted: match &spec.predicted {
                Some(demand) => Some(Predicted::of(
                    demand.on_grid(),
                    settings.margin,
                    Basis::Profile(Arc::from(spec.name.as_str())),
                )),
                None => newcomers.as_mut().and_then(|it| it.predicted(spec.request)),
            },
            waiting: BTreeSet::new(),
        });
        Self { kinds: kinds.collect(), by_application, waiting: BTreeSet::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// An application begins to wait. Returns whether no other of its kind waits.
    pub(super) fn begins_to_wait(&mut self, place: usize, since_ms: i64) -> bool {
        let number = self.number_of(place);
        self.kinds[number].waiting.insert((since_ms, place));
        self.waiting.insert(number)
    }

    /// An application that has waited since `since_ms` waits no more. Returns whether none of its kind does.
    pub(super) fn waits_no_more(&mut self, place: usize, since_ms: i64) -> bool {
        let number = self.number_of(place);
        let waiting = &mut self.kinds[number].waiting;
        waiting.remove(&(since_ms, place));
        let was_last = waiting.is_empty();
        if was_last {
            self.waiting.remove(&number);
        }
        was_last
    }

    /// The number of an application's kind.
    pub(super) fn number_of(&self, place: usize) -> usize {
        self.by_application[place]
    }

    /// A kind by its number.
    pub(super) fn kind(&self, number: usize) -> &DemandKind {
        &self.kinds[number]
    }

    /// The start of the longest wait.
    pub(super) fn waits_since_ms(&self) -> Option<i64> {
        let kinds = self.waiting();
        kinds.filter_map(|(_, kind)| kind.waits_since_ms()).min()
    }

    /// The kinds with a waiting application, with their numbers.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (usize, &DemandKind)> {
        self.waiting.iter().map(|number| (*number, &self.kinds[*number]))
    }
}

impl DemandKind {
    /// The start of the longest wait.
    pub(super) fn waits_since_ms(&self) -> Option<i64> {
        self.waiting.first().map(|(since_ms, _)| *since_ms)
    }
}
