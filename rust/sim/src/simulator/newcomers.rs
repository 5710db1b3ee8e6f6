//! Applications that have not run before, planned as in production by what the others used of their requests.

use elastane_core::ContainerKind;
use elastane_core::cluster::{Predicted, Request};
use elastane_predict::{
    EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, Others, Outcome, Run, RunSeries, Settings,
};

use crate::workload::ApplicationSpec;

/// What the scheduler knows of other applications: all that have run before, from the start on.
pub(super) struct Newcomers {
    others: Others,
}

impl Newcomers {
    pub(super) fn new(specs: &[ApplicationSpec]) -> Self {
        let mut others = Others::default();
        for spec in specs.iter().filter(|spec| spec.predicted.is_some()) {
            let slots = spec.actual.on_grid().slots().to_vec();
            let kind = ContainerKind::DEFAULT_EXECUTOR;
            let run = Run {
                application_key: spec.name.clone(),
                application_id: spec.name.clone(),
                application_name: spec.name.clone(),
                started_ms: 0,
                ended_ms: 0,
                outcome: Outcome::Succeeded,
                series: vec![RunSeries {
                    stage_ends_ms: Vec::new(),
                    kind,
                    containers: spec.executors,
                    slots,
                }],
            };
            others.ran(&run, None, &settings(spec.request));
        }
        Self { others }
    }

    /// The demand of an executor of an application that has not run before; none where too few others have.
    pub(super) fn predicted(&mut self, request: Request) -> Option<Predicted> {
        let plans = self.others.plans(None, &settings(request));
        let (_, plan) = plans.into_iter().next()?;
        Some(plan.predicted())
    }
}

fn settings(request: Request) -> Settings {
    let given = [
        (EXECUTOR_CORES, f64::from(request.vcores)),
        (EXECUTOR_MEMORY_BYTES, request.memory_bytes as f64),
    ];
    Settings(given.map(|(name, it)| (name.to_owned(), it)).into())
}

#[cfg(test)]
mod tests {
    use elastane_core::cluster::Basis;
    use elastane_core::{Demand, Resources, SLOT_MS};

    use super::*;
    use crate::workload::Errors;

    const REQUEST: Request = Request { memory_bytes: 8_000_000_000, vcores: 2 };

    fn spec(number: usize, is_known: bool) -> ApplicationSpec {
        let slot = Resources::from_array([1.0, 2e9, 0.0, 0.0]);
        let actual = Demand::series(SLOT_MS, &[slot; 4]).unwrap();
        ApplicationSpec {
            name: format!("application {number}"),
            queue: 0,
            user: String::new(),
            submitted_ms: 0,
            deadline_ms: None,
            executors: 1,
            request: REQUEST,
            predicted: is_known.then(|| actual.clone()),
            actual,
            lengths: None,
            errors: Errors::default(),
        }
    }

    #[test]
    fn they_are_planned_by_the_known_ones_and_not_by_each_other() {
        let mut specs: Vec<_> = (0..9).map(|number| spec(number, true)).collect();
        let larger = Request { memory_bytes: 2 * REQUEST.memory_bytes, vcores: 4 };
        let predicted = Newcomers::new(&specs).predicted(larger).unwrap();
        assert_eq!(predicted.demand.peak(), Resources::from_array([2.0, 4e9, 0.0, 0.0]));
        assert_eq!(predicted.basis, Basis::Others);
        specs[8].predicted = None;
        assert_eq!(Newcomers::new(&specs).predicted(larger), None);
    }
}
