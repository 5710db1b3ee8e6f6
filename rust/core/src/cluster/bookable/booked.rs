//! Sums of requests, sizes and demands in YARN's units.

use crate::cluster::state::Request;

/// Memory and virtual cores of many containers or nodes. Subtracting undoes adding exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Booked {
    pub(crate) memory_bytes: i64,
    /// Thousandths of virtual cores; 0 where CapacityScheduler does not count them.
    pub(crate) millivcores: i64,
}

impl Booked {
    pub(crate) fn new(memory_bytes: f64, vcores: f64) -> Self {
        Self { memory_bytes: memory_bytes as i64, millivcores: (vcores * 1e3) as i64 }
    }

    fn zip(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            memory_bytes: f(self.memory_bytes, other.memory_bytes),
            millivcores: f(self.millivcores, other.millivcores),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, i64::saturating_add)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.zip(other, i64::saturating_sub)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, i64::max)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, i64::min)
    }

    /// Each amount times its factor.
    pub(crate) fn scaled(self, factors: Ratios) -> Self {
        let scale = |amount: i64, factor: f64| (amount as f64 * factor) as i64;
        Self {
            memory_bytes: scale(self.memory_bytes, factors.memory),
            millivcores: scale(self.millivcores, factors.vcores),
        }
    }

    pub(crate) fn times(self, count: u32) -> Self {
        self.zip(
            Self { memory_bytes: i64::from(count), millivcores: i64::from(count) },
            i64::saturating_mul,
        )
    }

    /// This amount over `whole`; `otherwise` where the whole has nothing.
    pub(crate) fn over(self, whole: Self, otherwise: f64) -> Ratios {
        let ratio =
            |part: i64, whole: i64| if whole > 0 { part as f64 / whole as f64 } else { otherwise };
        Ratios {
            memory: ratio(self.memory_bytes, whole.memory_bytes),
            vcores: ratio(self.millivcores, whole.millivcores),
        }
    }

    /// The larger part of `whole`, as CapacityScheduler compares amounts.
    pub(crate) fn dominant_share(self, whole: Self) -> f64 {
        let Ratios { memory, vcores } = self.over(whole, 0.0);
        memory.max(vcores)
    }

    /// Rounded down; vcores are unlimited where CapacityScheduler does not count them.
    pub(crate) fn as_request(self, virtual_cores_count: bool) -> Request {
        let vcores = if virtual_cores_count { self.millivcores / 1_000 } else { i64::MAX };
        Request {
            memory_bytes: u64::try_from(self.memory_bytes).unwrap_or(0),
            vcores: u32::try_from(vcores).unwrap_or(u32::MAX),
        }
    }

    /// Whether something of each amount is left below `limit`, where it has any.
    pub(crate) fn is_below(self, limit: Self) -> bool {
        let is_less = |amount, limit| limit == 0 || amount < limit;
        self != limit
            && is_less(self.memory_bytes, limit.memory_bytes)
            && is_less(self.millivcores, limit.millivcores)
    }

    pub(crate) fn fits_into(self, room: Self) -> bool {
        self.memory_bytes <= room.memory_bytes && self.millivcores <= room.millivcores
    }
}

impl From<Request> for Booked {
    fn from(request: Request) -> Self {
        Self {
            memory_bytes: i64::try_from(request.memory_bytes).unwrap_or(i64::MAX),
            millivcores: i64::from(request.vcores) * 1_000,
        }
    }
}

/// A ratio for memory and one for virtual cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratios {
    pub(crate) memory: f64,
    pub(crate) vcores: f64,
}

impl Ratios {
    pub(crate) const ONE: Ratios = Ratios { memory: 1.0, vcores: 1.0 };

    pub(crate) fn both(ratio: f64) -> Self {
        Self { memory: ratio, vcores: ratio }
    }

    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self { memory: f(self.memory, other.memory), vcores: f(self.vcores, other.vcores) }
    }

    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { memory: f(self.memory), vcores: f(self.vcores) }
    }
}
