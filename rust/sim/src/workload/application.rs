//! One application of a workload, and the actual use of its executors.

use std::sync::Arc;

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources};

use crate::random::{Purpose, Random};

/// An application with like executors, each with its own share of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSpec {
    /// For reports.
    pub name: String,
    /// The place of its queue in [`Workload::queues`](super::Workload::queues); 0 where there are none.
    pub queue: usize,
    /// Whose it is: counts where its queue has a limit for each of its users.
    pub user: String,
    /// Its submission, in milliseconds from the start.
    pub submitted_ms: i64,
    /// When it has to be done, in milliseconds from the start; none without a deadline.
    pub deadline_ms: Option<i64>,
    /// How many executors it has.
    pub executors: u32,
    /// The request of each executor.
    pub request: Request,
    /// The predicted demand of an executor; None if the scheduler knows only the request.
    pub predicted: Option<Demand>,
    /// The undisturbed use of an executor, before [`Errors`].
    pub actual: Demand,
    /// How many slots each executor takes, by its number; none where `actual` and `errors` say it.
    pub lengths: Option<Arc<[usize]>>,
    /// How executors differ from `actual`.
    pub errors: Errors,
}

/// The deviation of an executor from the mean of its application.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Errors {
    /// The standard deviation of a slot's use, as a fraction of it.
    pub slot: Resources,
    /// The standard deviation of an executor's length, as a fraction of it.
    pub length: f64,
}

impl Errors {
    /// The same deviation for all resources.
    pub fn uniform(slot: f64, length: f64) -> Self {
        Self { slot: Resources::from_array([slot; 4]), length }
    }
}

impl ApplicationSpec {
    /// The undisturbed use of executor `number` of this application, the workload's `application`th: one
    /// value per slot of `actual`.
    ///
    /// It depends only on the seed and the executor, so every policy gets the same work.
    pub fn executor(&self, seed: u64, application: usize, number: u32) -> ExecutorSlots {
        let mut random = Random::new(seed, Purpose::Executor { application, number });
        let drawn = stretched(self.actual.slots().len(), random.factor(self.errors.length));
        let given = self.lengths.as_ref().and_then(|all| all.get(number as usize));
        let length = given.map_or(drawn, |slots| (*slots).max(1));
        ExecutorSlots {
            actual: self.actual.clone(),
            error: self.errors.slot,
            random,
            slot: 0,
            length,
        }
    }
}

/// The use of one executor, slot by slot. Computed lazily: the slots of all running executors of a large
/// cluster would take more memory than everything else.
#[derive(Debug, Clone)]
pub struct ExecutorSlots {
    actual: Demand,
    error: Resources,
    random: Random,
    slot: usize,
    length: usize,
}

impl ExecutorSlots {
    /// An upper bound of the use in any slot.
    pub(crate) fn most(&self) -> Resources {
        let factors = self.error.to_array().map(Random::most_factor);
        let factors = Resources::from_array(factors);
        self.actual.peak().zip(factors, |peak, factor| peak * factor)
    }
}

impl Iterator for ExecutorSlots {
    type Item = Resources;

    fn next(&mut self) -> Option<Resources> {
        if self.slot == self.length {
            return None;
        }
        let random = &mut self.random;
        let factors = self.error.to_array().map(|error| random.factor(error));
        let base = self.actual.slots();
        let amounts = base[self.slot * base.len() / self.length];
        self.slot += 1;
        Some(amounts.zip(Resources::from_array(factors), |amount, factor| amount * factor))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.length - self.slot;
        (left, Some(left))
    }
}

impl ExactSizeIterator for ExecutorSlots {}

/// A number of slots times a factor; at least one.
pub fn stretched(slots: usize, factor: f64) -> usize {
    ((slots as f64 * factor).round() as usize).max(1)
}
