//! Expected starts of what waits, held against when it started.

use std::collections::HashMap;

use elastane_core::cluster::{ApplicationId, Cluster, PlannedStart, StartForecast};

/// An expected start of an application's next container, and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForecastStart {
    /// When the start was asked for, in milliseconds from the start of the simulation.
    pub asked_ms: i64,
    /// When it was planned to start; none where no plan had it.
    pub planned_ms: Option<i64>,
    /// When it was expected to start by the forecast; none where that was not known.
    pub expected_ms: Option<i64>,
    /// When it started.
    pub started_ms: i64,
}

/// Forecasts that wait for the truth.
#[derive(Debug, Default)]
pub(super) struct Forecasts {
    /// None where nothing is forecast.
    every_ms: Option<i64>,
    next_ms: i64,
    /// By the place of an application in the workload.
    open: HashMap<usize, Vec<ForecastStart>>,
    pub(super) known: Vec<ForecastStart>,
}

impl Forecasts {
    pub(super) fn new(every_ms: Option<i64>) -> Self {
        Self { every_ms, ..Self::default() }
    }

    /// Forecasts the starts of all that waits, from time to time. `place_of` gives an application's place.
    pub(super) fn look(
        &mut self,
        cluster: &Cluster,
        place_of: impl Fn(ApplicationId) -> usize,
        now_ms: i64,
    ) {
        let Some(every_ms) = self.every_ms.filter(|_| now_ms >= self.next_ms) else {
            return;
        };
        self.next_ms = now_ms.saturating_add(every_ms);
        let expected = StartForecast::of(cluster, now_ms).run();
        let waiting = cluster.applications().filter(|(_, it)| it.waiting.or(it.held).is_some());
        for (id, _) in waiting {
            let start = ForecastStart {
                asked_ms: now_ms,
                planned_ms: PlannedStart::of(cluster, id).map(|start| start.first_ms),
                expected_ms: expected.get(&id).map(|start| start.at_ms),
                started_ms: 0,
            };
            self.open.entry(place_of(id)).or_default().push(start);
        }
    }

    /// The next container of an application started.
    pub(super) fn started(&mut self, place: usize, now_ms: i64) {
        let open = self.open.remove(&place).into_iter().flatten();
        self.known.extend(open.map(|start| ForecastStart { started_ms: now_ms, ..start }));
    }
}
