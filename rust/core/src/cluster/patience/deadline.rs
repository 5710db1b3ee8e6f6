//! Deadlines: an application goes first while it would otherwise miss its own.

use crate::SLOT_MS;
use crate::cluster::ranking::Urgency;
use crate::cluster::waiting::Line;

/// How long before its latest start an application goes first, in lives of its executor: the time in which
/// all its containers get their turn.
const AHEAD_LIVES: i64 = 1;

/// How long after its latest start an application still goes first, as a fraction of a life: 1 ÷ 10. Lives are
/// predicted to about a tenth.
const LATE_PART: i64 = 10;

/// The urgency of an application that does not starve. `life` is that of its next container, in slots: without a
/// predicted end nobody knows when it has to start.
#[inline]
pub(crate) fn urgency(line: &Line, life: impl FnOnce() -> Option<usize>, now_ms: i64) -> Urgency {
    let Some(deadline_ms) = line.deadline_ms else {
        return Urgency::Usual;
    };
    match life().and_then(|slots| i64::try_from(slots).ok()) {
        Some(slots) => of_life(deadline_ms, slots.saturating_mul(i64::from(SLOT_MS)), now_ms),
        None => Urgency::Usual,
    }
}

/// Once the deadline can no longer be met, nobody waits for it.
fn of_life(deadline_ms: i64, life_ms: i64, now_ms: i64) -> Urgency {
    let latest_start_ms = deadline_ms.saturating_sub(life_ms);
    let from_ms = latest_start_ms.saturating_sub(life_ms.saturating_mul(AHEAD_LIVES));
    let to_ms = latest_start_ms.saturating_add(life_ms / LATE_PART);
    match (from_ms..=to_ms).contains(&now_ms) {
        true => Urgency::Due { latest_start_ms },
        false => Urgency::Usual,
    }
}
