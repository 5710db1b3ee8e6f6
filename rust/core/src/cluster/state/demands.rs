//! What is known about the containers of an application.

use std::sync::Arc;

use crate::container_kind::ContainerKind;
use crate::demand::Demand;

/// A demand that was predicted from earlier runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// What the executor is expected to use.
    pub demand: Demand,
    /// The safety margin of the fit, as a fraction of the demand.
    pub margin: f64,
    /// The profile it comes from.
    pub profile: Arc<str>,
}

/// A demand that is a thousand times larger is capped at any node's size.
const LARGEST_MARGIN: f64 = 1e3;

/// What is known about an application's containers; none of a kind means its request is taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demands {
    /// In the order of kinds. Most applications have two, and a map has room for a dozen.
    known: Vec<(ContainerKind, Predicted)>,
}

impl Predicted {
    pub(crate) fn on_grid(self) -> Self {
        Self {
            demand: self.demand.on_grid(),
            margin: if self.margin.is_nan() {
                0.0
            } else {
                self.margin.clamp(0.0, LARGEST_MARGIN)
            },
            ..self
        }
    }
}

impl Demands {
    /// On the grid of the plan, with margins that are at least 0 and a number.
    pub(crate) fn on_grid(self) -> Self {
        let on_grid = |(kind, predicted): (_, Predicted)| (kind, predicted.on_grid());
        self.known.into_iter().map(on_grid).collect()
    }

    /// Takes what is known of a kind now, and says whether that is something else.
    pub(crate) fn set(&mut self, kind: ContainerKind, predicted: Option<Predicted>) -> bool {
        let place = self.place(kind);
        match (place, predicted) {
            (Ok(place), Some(now)) if self.known[place].1 == now => return false,
            (Ok(place), Some(now)) => self.known[place].1 = now,
            (Ok(place), None) => {
                self.known.remove(place);
            }
            (Err(place), Some(now)) => self.known.insert(place, (kind, now)),
            (Err(_), None) => return false,
        }
        true
    }

    /// What is known of the containers of a kind.
    #[must_use]
    pub fn of(&self, kind: ContainerKind) -> Option<&Predicted> {
        let place = self.place(kind).ok()?;
        Some(&self.known[place].1)
    }

    /// Whether somebody else has a series of these.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        let mut known = self.known.iter();
        known.any(|(_, predicted)| predicted.demand.is_shared())
    }

    /// Where a kind is, or belongs.
    fn place(&self, kind: ContainerKind) -> Result<usize, usize> {
        self.known.binary_search_by_key(&kind, |(known, _)| *known)
    }
}

impl FromIterator<(ContainerKind, Predicted)> for Demands {
    fn from_iter<T: IntoIterator<Item = (ContainerKind, Predicted)>>(known: T) -> Self {
        let mut demands = Self::default();
        for (kind, predicted) in known {
            demands.set(kind, Some(predicted));
        }
        demands.known.shrink_to_fit();
        demands
    }
}
