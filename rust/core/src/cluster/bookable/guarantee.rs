//! How far a cluster may be raised so that every queue's guarantee stays deliverable:
//! `registered ÷ Σ g_q·ρ_q`, with the guaranteed share g_q and the proven ratio ρ_q = demand ÷ request.
//!
//! Demand of memory is the containers' peaks. Of what runs, the part counts that nodes hold at once
//! ([`held_at_once`]): peaks that do not meet leave room for others.

use super::booked::{Booked, Ratios};
use super::taken::Taken;

/// The weight of a queue's past halves in this time, in milliseconds: an hour.
const HALF_LIFE_MS: f64 = 3_600_000.0;

/// A leaf queue's claim on the nodes of one label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) guaranteed: Booked,
    /// By its running containers.
    pub(crate) taken: Taken,
    /// By its waiting ones.
    pub(crate) waits: Taken,
    pub(crate) history: History,
}

/// The proven ratio of a queue over time. It stays while the queue is idle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    ratios: Ratios,
    advanced_ms: Option<i64>,
}

impl Default for History {
    /// Nothing is known: what the queue will run takes what it requests.
    fn default() -> Self {
        Self { ratios: Ratios::ONE, advanced_ms: None }
    }
}

impl History {
    /// Moves the ratios toward demand ÷ request of the running containers, by the time since the last call.
    pub(crate) fn advance(&mut self, running: Taken, now_ms: i64) {
        let elapsed_ms =
            self.advanced_ms.map_or(0, |last_ms| now_ms.saturating_sub(last_ms).max(0));
        self.advanced_ms = Some(now_ms);
        let weight = 1.0 - 0.5_f64.powf(elapsed_ms as f64 / HALF_LIFE_MS);
        let ratio = |part: i64, whole: i64, former: f64| {
            if whole > 0 { former + (part as f64 / whole as f64 - former) * weight } else { former }
        };
        let Taken { requested, demanded } = running;
        self.ratios = Ratios {
            memory: ratio(demanded.memory_bytes, requested.memory_bytes, self.ratios.memory),
            vcores: ratio(demanded.millivcores, requested.millivcores, self.ratios.vcores),
        };
    }
}

impl Claim {
    /// ρ of the guarantee: what runs counts as far as it fills the guarantee, then what waits, then the history.
    /// Waiting containers do not make up for those that run: a small part of many that need next to nothing would
    /// otherwise let the queue fill machines that are full already.
    fn proven_ratio(&self, at_once: f64) -> Ratios {
        let ratio = |taken: Taken| taken.demanded.over(taken.requested, 1.0);
        let running = ratio(self.taken);
        let running = Ratios { memory: running.memory * at_once, ..running };
        let filled =
            |taken: Taken| taken.requested.over(self.guaranteed, 1.0).map(|filled| filled.min(1.0));
        let by_running = filled(self.taken);
        let with_waiting = filled(self.taken.plus(self.waits));
        let by_waiting = with_waiting.zip(by_running, |all, running| all - running);
        let by_rest = with_waiting.map(|filled| 1.0 - filled);
        let weighted = |ratio: Ratios, part: Ratios| ratio.zip(part, |ratio, part| ratio * part);
        let add = |a: f64, b: f64| a + b;
        weighted(running, by_running)
            .zip(weighted(ratio(self.waits), by_waiting), add)
            .zip(weighted(self.history.ratios, by_rest), add)
    }
}

/// The part of the running containers' peaks of memory that nodes hold in their fullest slots, which together hold
/// `fullest_bytes`; 1 where nothing runs.
fn held_at_once(fullest_bytes: i64, claims: &[Claim]) -> f64 {
    let peaks: i64 = claims.iter().map(|claim| claim.taken.demanded.memory_bytes).sum();
    if peaks > 0 { (fullest_bytes as f64 / peaks as f64).clamp(0.0, 1.0) } else { 1.0 }
}

/// `Σ g_q·ρ_q`: the part of the nodes' registered sizes that all guarantees demand together. What no queue is
/// guaranteed counts as claimed in full. At most 1, since no node shrinks below its registered size.
/// `fullest_bytes` is that of [`held_at_once`].
pub(crate) fn claimed(registered: Booked, claims: &[Claim], fullest_bytes: i64) -> Ratios {
    let at_once = held_at_once(fullest_bytes, claims);
    let nothing = Ratios::both(0.0);
    let add = |a: f64, b: f64| a + b;
    let (mut guaranteed, mut claimed) = (nothing, nothing);
    for claim in claims {
        let share = claim.guaranteed.over(registered, 0.0);
        guaranteed = guaranteed.zip(share, add);
        claimed =
            claimed.zip(share.zip(claim.proven_ratio(at_once), |share, ratio| share * ratio), add);
    }
    let unclaimed = guaranteed.map(|guaranteed| (1.0 - guaranteed).max(0.0));
    claimed.zip(unclaimed, add).map(|claimed| claimed.clamp(1e-3, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(memory_bytes: i64) -> Booked {
        Booked { memory_bytes, millivcores: 0 }
    }

    fn claim(guaranteed: i64, requested: i64, demanded: i64) -> Claim {
        let taken = Taken { requested: memory(requested), demanded: memory(demanded) };
        let history = History::default();
        Claim { guaranteed: memory(guaranteed), taken, waits: Taken::default(), history }
    }

    fn claimed_memory(claims: &[Claim]) -> f64 {
        claimed(memory(1_000), claims, i64::MAX).memory
    }

    #[test]
    fn nothing_known_claims_all() {
        assert_eq!(claimed_memory(&[claim(500, 0, 0), claim(500, 0, 0)]), 1.0);
        assert_eq!(claimed_memory(&[claim(500, 400, 400), claim(500, 0, 0)]), 1.0);
    }

    #[test]
    fn a_full_queue_counts_by_its_demand_and_an_idle_one_in_full() {
        let half = [claim(500, 600, 180), claim(500, 0, 0)];
        assert!((claimed_memory(&half) - (0.5 * 0.3 + 0.5)).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_yet_used_of_a_guarantee_counts_as_in_the_past() {
        let mut claim = claim(500, 250, 50);
        assert!((claimed_memory(&[claim, self::claim(500, 0, 0)]) - 0.8).abs() < 1e-9);
        claim.history.ratios = Ratios::both(0.4);
        let expected = 0.5 * (0.5 * 0.2 + 0.5 * 0.4) + 0.5;
        assert!((claimed_memory(&[claim, self::claim(500, 0, 0)]) - expected).abs() < 1e-9);
    }

    #[test]
    fn what_waits_does_not_make_up_for_what_runs() {
        let waits = Taken { requested: memory(100_000), demanded: memory(400) };
        let full = Claim { waits, ..claim(500, 500, 500) };
        assert_eq!(claimed_memory(&[full, claim(500, 0, 0)]), 1.0);
        let half_full = Claim { waits, ..claim(500, 250, 250) };
        let expected = 0.5 * (0.5 + 0.5 * 0.004) + 0.5;
        assert!((claimed_memory(&[half_full, claim(500, 0, 0)]) - expected).abs() < 1e-9);
    }

    #[test]
    fn what_no_queue_is_guaranteed_counts_in_full() {
        assert!((claimed_memory(&[claim(500, 500, 100)]) - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_history_follows_what_runs_and_stays_while_idle() {
        let mut history = History::default();
        let running = Taken { requested: memory(100), demanded: memory(20) };
        history.advance(running, 0);
        history.advance(running, 3_600_000);
        assert!((history.ratios.memory - 0.6).abs() < 1e-9);
        history.advance(Taken::default(), 36_000_000);
        assert!((history.ratios.memory - 0.6).abs() < 1e-9);
    }

    #[test]
    fn what_is_held_at_once_is_a_part_of_the_peaks() {
        let claims = [claim(500, 400, 100), claim(500, 200, 100)];
        assert_eq!(held_at_once(150, &claims), 0.75);
        assert_eq!(held_at_once(250, &claims), 1.0, "measured above the prediction");
        assert_eq!(held_at_once(150, &[claim(500, 0, 0)]), 1.0);
        let half = claimed(memory(1_000), &[claim(1_000, 1_000, 400)], 200);
        assert!((half.memory - 0.2).abs() < 1e-9);
    }
}
