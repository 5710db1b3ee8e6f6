//! Application masters wait while running applications of their queue lack memory: the two would deprive each
//! other.

use crate::cluster::patience::urgency;
use crate::cluster::ranking::Urgency;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::waiting::Line;

/// The longest time that an application master waits for other applications, in milliseconds: its own application
/// cannot begin without it.
const LONGEST_WAIT_MS: i64 = 60_000;

/// Whether the row is an application master that waits for others. `short_of_memory` says so of each queue, see
/// [`WaitingTable::queues_short_of_memory`](crate::cluster::waiting::WaitingTable::queues_short_of_memory);
/// `life` is that of its container, in slots. One whose deadline is due does not wait.
#[inline]
pub(crate) fn waits_for_others(
    line: &Line,
    short_of_memory: Option<&[bool]>,
    settings: &ClusterSettings,
    life: impl FnOnce() -> Option<usize>,
    now_ms: i64,
) -> bool {
    let longest_ms = LONGEST_WAIT_MS.min(settings.starvation_wait_ms);
    line.kind.is_application_master()
        && short_of_memory.is_some_and(|queues| queues[line.queue as usize])
        && now_ms.saturating_sub(line.since_ms) < longest_ms
        && urgency(line, life, now_ms) == Urgency::Usual
}
