//! When containers of each size were placed last.

use std::sync::Arc;

use crate::cluster::state::{Countables, Request};

/// Number of sizes remembered; the least recently placed one is dropped.
const REMEMBERED: usize = 64;

/// One entry for each container size and node label.
#[derive(Debug, Default)]
pub(super) struct PlacedSizes(Vec<Placed>);

#[derive(Debug)]
struct Placed {
    label: Arc<str>,
    request: Request,
    countables: Countables,
    last_ms: i64,
}

impl PlacedSizes {
    pub(super) fn add(
        &mut self,
        label: &Arc<str>,
        request: Request,
        countables: &Countables,
        now_ms: i64,
    ) {
        let is_same = |it: &&mut Placed| {
            it.label == *label && it.request == request && it.countables == *countables
        };
        if let Some(placed) = self.0.iter_mut().find(is_same) {
            placed.last_ms = now_ms;
            return;
        }
        if self.0.len() == REMEMBERED {
            let oldest = (0..REMEMBERED).min_by_key(|i| self.0[*i].last_ms);
            self.0.swap_remove(oldest.unwrap_or(0));
        }
        let (label, countables) = (Arc::clone(label), countables.clone());
        self.0.push(Placed { label, request, countables, last_ms: now_ms });
    }

    /// Whether a container of at least this size was placed after `since_ms` on nodes of `label`.
    pub(super) fn had_room_for(
        &self,
        label: &str,
        request: Request,
        countables: &Countables,
        since_ms: i64,
    ) -> bool {
        self.0.iter().any(|placed| {
            placed.last_ms > since_ms
                && *placed.label == *label
                && request.fits_into(placed.request)
                && countables.fits_into(placed.countables.amounts())
        })
    }
}
