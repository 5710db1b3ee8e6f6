//! What a computation over the whole cluster was made from, so that it is not made again without a change.

use super::state::State;
use super::waiting::WaitingTable;
use crate::slot_of;

/// Equal values mean that nothing started, ended or was asked for in between, in the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsOf {
    slot: i64,
    containers: (u64, usize),
    asks: u64,
}

impl AsOf {
    pub(crate) fn now(state: &State, waiting: &WaitingTable, now_ms: i64) -> Self {
        Self {
            slot: slot_of(now_ms),
            containers: state.containers_version(),
            asks: waiting.version(),
        }
    }
}
