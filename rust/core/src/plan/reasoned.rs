//! Limits with their reasons.

use elastane_protocol::Limits;

/// What a limit follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReason {
    /// What is planned, times the ratio of a cap.
    Planned,
    /// The least that a limit may be.
    Least,
    /// The request: a cap is never below it, and planned memory never above.
    Request,
    /// The request, since the predicted end is near or past.
    PastItsEnd,
    /// What was measured: more memory than was planned for any time up to now.
    HoldsMore,
    /// Without a profile: a part of the node's CPU by virtual cores.
    VirtualCores,
}

/// One limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reasoned {
    /// In the unit of the field.
    pub amount: f64,
    /// What it follows.
    pub why: LimitReason,
}

/// The limits of one moment; fields as in [`Limits`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "as in Limits")]
pub struct ReasonedLimits {
    pub cpu_weight_cores: Option<Reasoned>,
    pub cpu_cap_cores: Option<Reasoned>,
    pub memory_bytes: Option<Reasoned>,
    pub disk_cap_bytes_per_s: Option<Reasoned>,
    pub network_weight_bytes_per_s: Option<Reasoned>,
    pub network_cap_bytes_per_s: Option<Reasoned>,
}

impl Reasoned {
    pub(super) fn planned(amount: f64) -> Self {
        Self { amount, why: LimitReason::Planned }
    }

    /// The larger of both.
    pub(super) fn or_if_more(self, amount: f64, why: LimitReason) -> Self {
        if amount > self.amount { Self { amount, why } } else { self }
    }
}

impl ReasonedLimits {
    /// A weight of the CPU alone.
    pub(crate) fn by_virtual_cores(cores: f64) -> Self {
        let weight = Reasoned { amount: cores, why: LimitReason::VirtualCores };
        Self { cpu_weight_cores: Some(weight), ..Self::default() }
    }

    /// All of them, in the order of [`LIMIT_NAMES`](super::LIMIT_NAMES).
    pub fn all(&self) -> [Option<Reasoned>; 6] {
        [
            self.cpu_weight_cores,
            self.cpu_cap_cores,
            self.memory_bytes,
            self.disk_cap_bytes_per_s,
            self.network_weight_bytes_per_s,
            self.network_cap_bytes_per_s,
        ]
    }

    pub(crate) fn limits(&self) -> Limits {
        let cores = |limit: Option<Reasoned>| limit.map(|it| it.amount as f32);
        let bytes = |limit: Option<Reasoned>| limit.map(|it| it.amount.ceil() as u64);
        Limits {
            cpu_weight_cores: cores(self.cpu_weight_cores),
            cpu_cap_cores: cores(self.cpu_cap_cores),
            memory_bytes: bytes(self.memory_bytes),
            disk_cap_bytes_per_s: bytes(self.disk_cap_bytes_per_s),
            network_weight_bytes_per_s: bytes(self.network_weight_bytes_per_s),
            network_cap_bytes_per_s: bytes(self.network_cap_bytes_per_s),
        }
    }
}
