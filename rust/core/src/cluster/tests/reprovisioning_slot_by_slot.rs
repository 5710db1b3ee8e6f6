//! Remaining resources equal the node's size less a plain slot-by-slot sum, after any sequence of
//! progress, samples, windows and ends.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::reprovisioning::{left, run};
use super::*;
use crate::progress::Progress;
use crate::reprovision::{Correction, ReprovisionSettings, Used};

const SLOT: i64 = crate::SLOT_MS as i64;
const CORES: f64 = 4.0;
const AHEAD: usize = 40;

/// An event of one of a few containers, or of all.
#[derive(Debug, Clone)]
enum Step {
    Start { which: u8, cores: Vec<u8> },
    Tell { which: u8, percent: u8 },
    Use { which: u8, tenths: u8, throttled: u8 },
    Report,
    End { which: u8 },
    Pass { ms: i64 },
    GoBack { ms: i64 },
    LoseNode,
}

fn step() -> impl Strategy<Value = Step> {
    let which = || 0_u8..3;
    prop_oneof![
        2 => (which(), prop::collection::vec(0_u8..4, 1..25))
            .prop_map(|(which, cores)| Step::Start { which, cores }),
        6 => (which(), 0_u8..=100).prop_map(|(which, percent)| Step::Tell { which, percent }),
        6 => (which(), 0_u8..50, 0_u8..=10)
            .prop_map(|(which, tenths, throttled)| Step::Use { which, tenths, throttled }),
        6 => Just(Step::Report),
        1 => which().prop_map(|which| Step::End { which }),
        8 => prop_oneof![Just(SLOT), 1..3 * SLOT].prop_map(|ms| Step::Pass { ms }),
        1 => (20 * SLOT..40 * SLOT).prop_map(|ms| Step::Pass { ms }),
        1 => (1..20 * SLOT).prop_map(|ms| Step::GoBack { ms }),
        1 => Just(Step::LoseNode),
    ]
}

/// One executor, by slots counted from its start.
#[derive(Debug, Clone)]
struct Plain {
    cores: Vec<f64>,
    start: i64,
    factor: f64,
    lent: BTreeMap<i64, f64>,
    sampled_ms: Option<i64>,
}

impl Plain {
    fn at(&self, slot: i64) -> f64 {
        let last = self.cores.len() as i64 - 1;
        let cores = self.cores[slot.clamp(0, last) as usize] * self.factor;
        cores.min(CORES) + self.lent.get(&slot).copied().unwrap_or_default()
    }

    /// Number of slots that it is expected to run: at least one more than its loan.
    fn end(&self) -> i64 {
        let lent = self.lent.last_key_value().map_or(0, |(slot, _)| slot + 2);
        lent.max(self.cores.len() as i64)
    }
}

#[derive(Debug, Default)]
struct Reference {
    running: BTreeMap<u8, Plain>,
    now_ms: i64,
}

impl Reference {
    fn slot(&self) -> i64 {
        self.now_ms.div_euclid(SLOT)
    }

    fn left(&self) -> Vec<f64> {
        let now = self.slot();
        let taken = |ahead: i64| -> f64 {
            let of = |one: &Plain| {
                let slot = now + ahead - one.start;
                let holds = slot < one.end() || ahead == 0;
                if holds { one.at(slot) } else { 0.0 }
            };
            self.running.values().map(of).sum()
        };
        (0..AHEAD as i64).map(|ahead| CORES - taken(ahead)).collect()
    }

    fn set_clock(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
        let now = self.slot();
        for one in self.running.values_mut() {
            one.start = one.start.min(now);
        }
    }

    fn report_progress(&mut self, which: u8, part: f64) {
        let now = self.slot();
        let Some(one) = self.running.get_mut(&which) else {
            return;
        };
        let length = one.cores.len() as i64;
        let (slot, slot_now) = (now - one.start, (part * length as f64) as i64);
        let moves = (slot_now - slot).abs() > 1 || slot >= length && slot_now < slot;
        if one.lent.is_empty() && moves {
            one.start = now - slot_now;
        }
    }

    /// Applies a correction reported by the core, and checks that the core may make it.
    fn corrected(&mut self, which: u8, what: Correction) -> Result<(), TestCaseError> {
        let (left, now) = (self.left(), self.slot());
        let now_ms = self.now_ms;
        let others_hold = |one: &Plain| !one.lent.is_empty();
        let taken = self.running.values().any(others_hold);
        let Some(one) = self.running.get_mut(&which) else {
            return Ok(());
        };
        match what {
            Correction::Opened { lent, .. } => {
                prop_assert!(!taken, "two windows at a time");
                prop_assert!((lent.cpu_cores - left[0].max(0.0)).abs() < 1e-6);
                // Too little of the next sample lies in the window, so the loan lasts until the end
                // of the one after it.
                let age_ms = one.sampled_ms.map_or(0, |to_ms| now_ms - to_ms);
                let more_ms = if (1_201..SLOT).contains(&age_ms) { SLOT - age_ms } else { 0 };
                let last = (now_ms + SLOT + more_ms - 1) / SLOT;
                let mut least = f64::INFINITY;
                for (slot, left) in (now..=last).zip(left) {
                    least = least.min(left.max(0.0));
                    one.lent.insert(slot - one.start, least);
                }
            }
            Correction::Measured { factors, .. } => {
                prop_assert!((0.5..=4.0).contains(&factors.cpu_cores));
                one.lent.clear();
                one.factor = factors.cpu_cores;
            }
            Correction::Unused { factors } => {
                prop_assert!((0.5..=4.0).contains(&factors.cpu_cores));
                one.factor = factors.cpu_cores;
            }
            Correction::Returned { .. } => one.lent.clear(),
            Correction::Reschedule { predicted, left, .. } => {
                prop_assert!(left < 0.1 * predicted);
            }
        }
        Ok(())
    }
}

fn new_node(cluster: &mut Cluster, now_ms: i64) -> NodeId {
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), now_ms);
    node
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn remaining_resources_equal_the_plain_reference(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let settings = ClusterSettings { fresh_for_ms: i64::MAX, ..settings() };
        let mut cluster = Cluster::new(settings, Box::new(MinFrag { peaks: Peaks::Strict }));
        cluster.reprovision_by(Some(ReprovisionSettings::default()));
        let mut reference = Reference { now_ms: 1_000 * SLOT, ..Reference::default() };
        let mut node = new_node(&mut cluster, reference.now_ms);
        let name = |which: u8| format!("c{which}");
        for step in steps {
            let now_ms = reference.now_ms;
            match step {
                Step::Start { which, cores } => {
                    let cores: Vec<f64> = cores.into_iter().map(f64::from).collect();
                    run(&mut cluster, node, &name(which), &cores, now_ms);
                    // A container of the same name has ended.
                    cluster.take_reprovisioned();
                    let (start, lent) = (reference.slot(), BTreeMap::new());
                    let plain = Plain { cores, start, factor: 1.0, lent, sampled_ms: None };
                    reference.running.insert(which, plain);
                }
                Step::Tell { which, percent } => {
                    let part = f64::from(percent) / 100.0;
                    cluster.progressed(&name(which), Progress::new(part).unwrap(), now_ms);
                    reference.report_progress(which, part);
                }
                Step::Use { which, tenths, throttled } => {
                    let usage = Resources::from_array([f64::from(tenths) / 10.0, 1e9, 0.0, 0.0]);
                    let used = Used { usage, from_ms: now_ms - SLOT, to_ms: now_ms, throttled: f64::from(throttled) / 10.0 };
                    cluster.used(&name(which), used, now_ms);
                    if let Some(one) = reference.running.get_mut(&which) {
                        one.sampled_ms = Some(now_ms);
                    }
                }
                Step::Report => {
                    cluster.reprovision(node, now_ms);
                }
                Step::End { which } => {
                    cluster.finished(&name(which));
                    cluster.take_reprovisioned();
                    reference.running.remove(&which);
                }
                Step::Pass { ms } => reference.set_clock(now_ms + ms),
                Step::GoBack { ms } => reference.set_clock(now_ms - ms),
                Step::LoseNode => {
                    cluster.node_removed(node);
                    cluster.take_reprovisioned();
                    reference.running.clear();
                    node = new_node(&mut cluster, now_ms);
                }
            }
            for done in cluster.take_reprovisioned() {
                let which = done.container.as_bytes()[1] - b'0';
                reference.corrected(which, done.what)?;
            }
            let left = left(&mut cluster, node, AHEAD, reference.now_ms);
            let expected = reference.left();
            for (slot, (left, expected)) in left.iter().zip(&expected).enumerate() {
                prop_assert!((left - expected).abs() < 1e-6, "{slot}: {left} not {expected}");
            }
        }
        // Time alone ends every loan.
        let lent = reference.running.values().filter_map(|one| {
            let (slot, _) = one.lent.last_key_value()?;
            Some(one.start + slot)
        });
        let last = lent.max().unwrap_or_default().max(reference.slot());
        reference.set_clock((last + 1) * SLOT);
        for one in reference.running.values_mut() {
            one.lent.retain(|_, lent| { *lent = 0.0; true });
        }
        let left = left(&mut cluster, node, AHEAD, reference.now_ms);
        for (left, expected) in left.iter().zip(reference.left()) {
            prop_assert!((left - expected).abs() < 1e-6);
        }
    }
}
