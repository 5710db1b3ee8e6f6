//! The commands for each collector, found by measuring; see `docs/measurements/jvm.md`.
//!
//! A recipe only tightens the flags that the JVM was started with, and loosens them back. The JVM
//! refuses a minimal ratio above the maximal one, so the minimum is set first to tighten and the
//! maximum first to loosen.

use std::{collections::BTreeMap, convert::identity};

use super::{
    command::{Flag, JvmCommand},
    perf_data::Collector,
};
use crate::sensors::HeldHeap;

/// Free percentages of a shrinking heap.
const TIGHT_MIN_RATIO: u64 = 10;
const TIGHT_MAX_RATIO: u64 = 20;
/// G1 gives memory back at the end of a concurrent cycle. An idle JVM has none by itself.
const PERIODIC_COLLECTION_MS: u64 = 3000;
/// The first release whose G1 collects periodically.
const G1_PERIODIC_SINCE: u32 = 12;
/// The last release whose Shenandoah is known to work with a soft bound below its live data.
/// Release 25 then collects without end.
const SHENANDOAH_BEARS_ANY_BOUND_UP_TO: u32 = 17;
/// Room above used bytes for a soft bound that must not be below live data: a tenth.
const ROOM_ABOVE_USED: u64 = 10;
const LEAST_SOFT_BOUND_BYTES: u64 = 16 * 1024 * 1024;

/// Values of flags before the agent changed any.
pub type Flags = BTreeMap<Flag, u64>;

/// The properties of a JVM that select its recipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectorKind {
    pub collector: Collector,
    /// The feature release: 8, 11, 17, …
    pub java_version: u32,
}

/// The wanted behaviour of a JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Give unused memory back, down to a heap of `heap_bytes` if the collector takes a size.
    Shrink {
        heap_bytes: u64,
        /// Used bytes by the heap's counters.
        used_bytes: u64,
    },
    /// Stay small, but stop shrinking.
    Hold,
    /// Grow again, up to `heap_bytes` if the collector takes a size.
    Grow { heap_bytes: u64 },
    /// Restore the flags of before the agent.
    Restore,
}

/// How a collector is controlled.
enum Lever {
    FreeRatios {
        periodic: bool,
    },
    SoftBound {
        not_below_used: bool,
    },
    /// The collector does not return memory at run time, or is not known.
    LeaveAlone,
}

impl CollectorKind {
    /// The flags that the recipes change.
    pub fn flags(self) -> &'static [Flag] {
        match self.lever() {
            Lever::FreeRatios { periodic: true } => {
                &[Flag::MinHeapFreeRatio, Flag::MaxHeapFreeRatio, Flag::G1PeriodicGCInterval]
            }
            Lever::FreeRatios { periodic: false } => {
                &[Flag::MinHeapFreeRatio, Flag::MaxHeapFreeRatio]
            }
            Lever::SoftBound { .. } => &[Flag::SoftMaxHeapSize],
            Lever::LeaveAlone => &[],
        }
    }

    /// The most that the JVM could give back on request, by its counters. Used bytes may be
    /// garbage, but only a collector that runs for the request finds it.
    pub fn most_given_back(self, heap: HeldHeap) -> u64 {
        let kept = match self.lever() {
            Lever::FreeRatios { periodic: true } => 0,
            Lever::FreeRatios { periodic: false } => heap.used_bytes,
            Lever::SoftBound { .. } => heap_in_use(heap.used_bytes),
            Lever::LeaveAlone => return 0,
        };
        heap.committed_bytes.saturating_sub(kept)
    }

    fn lever(self) -> Lever {
        match self.collector {
            Collector::G1 if self.java_version >= G1_PERIODIC_SINCE => {
                Lever::FreeRatios { periodic: true }
            }
            Collector::Serial => Lever::FreeRatios { periodic: false },
            Collector::Z => Lever::SoftBound { not_below_used: false },
            Collector::Shenandoah => Lever::SoftBound {
                not_below_used: self.java_version > SHENANDOAH_BEARS_ANY_BOUND_UP_TO,
            },
            Collector::G1 | Collector::Parallel | Collector::Other => Lever::LeaveAlone,
        }
    }
}

/// The smallest heap that surely holds the used bytes of its counters.
pub fn heap_in_use(used_bytes: u64) -> u64 {
    used_bytes.saturating_add(used_bytes / ROOM_ABOVE_USED)
}

/// The commands for a wish, in order; none for a JVM that is left alone. `former` has the flags of
/// [`CollectorKind::flags`]; missing ones are not changed.
pub fn recipe(kind: CollectorKind, former: &Flags, wish: Wish) -> Vec<JvmCommand> {
    match kind.lever() {
        Lever::FreeRatios { .. } => ratios(former, wish),
        Lever::SoftBound { not_below_used } => soft_bound(former, wish, not_below_used),
        Lever::LeaveAlone => Vec::new(),
    }
}

fn ratios(former: &Flags, wish: Wish) -> Vec<JvmCommand> {
    let set = |flag: Flag, to: fn(u64) -> u64| {
        former.get(&flag).map(|was| JvmCommand::SetFlag { flag, value: to(*was) })
    };
    let (min, max) = (Flag::MinHeapFreeRatio, Flag::MaxHeapFreeRatio);
    let interval = set(Flag::G1PeriodicGCInterval, identity);
    let commands = match wish {
        Wish::Shrink { .. } => {
            let often = |was: u64| match was {
                0 => PERIODIC_COLLECTION_MS, // 0 means never.
                was => was.min(PERIODIC_COLLECTION_MS),
            };
            vec![
                set(min, |was| was.min(TIGHT_MIN_RATIO)),
                set(max, |was| was.min(TIGHT_MAX_RATIO)),
                set(Flag::G1PeriodicGCInterval, often),
            ]
        }
        Wish::Hold => vec![interval],
        Wish::Grow { .. } | Wish::Restore => vec![set(max, identity), set(min, identity), interval],
    };
    commands.into_iter().flatten().collect()
}

fn soft_bound(former: &Flags, wish: Wish, not_below_used: bool) -> Vec<JvmCommand> {
    let flag = Flag::SoftMaxHeapSize;
    let Some(most) = former.get(&flag).copied() else {
        return Vec::new();
    };
    let bytes = match wish {
        // Garbage counts as used.
        Wish::Shrink { heap_bytes, used_bytes } if not_below_used => {
            heap_bytes.max(heap_in_use(used_bytes))
        }
        Wish::Shrink { heap_bytes, .. } | Wish::Grow { heap_bytes } => heap_bytes,
        Wish::Hold => return Vec::new(),
        Wish::Restore => most,
    };
    vec![JvmCommand::SetFlag { flag, value: bytes.max(LEAST_SOFT_BOUND_BYTES).min(most) }]
}

#[cfg(test)]
mod tests;
