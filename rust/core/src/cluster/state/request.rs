//! Amounts in the units that YARN books by.

use serde::Deserialize;

/// An amount in YARN's units: a request, a free part or a registered size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
pub struct Request {
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Virtual cores.
    pub vcores: u32,
}

impl Request {
    /// Whether it fits into `free`.
    pub fn fits_into(self, free: Request) -> bool {
        self.memory_bytes <= free.memory_bytes && self.vcores <= free.vcores
    }

    /// The part that CapacityScheduler books.
    pub(crate) fn bookable(self, virtual_cores_count: bool) -> Request {
        Request { vcores: if virtual_cores_count { self.vcores } else { 0 }, ..self }
    }

    pub(crate) fn min(self, other: Request) -> Request {
        Request {
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            vcores: self.vcores.min(other.vcores),
        }
    }

    /// Both together.
    pub fn plus(self, other: Request) -> Request {
        Request {
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            vcores: self.vcores.saturating_add(other.vcores),
        }
    }

    /// This without the other; no less than 0.
    pub fn minus(self, other: Request) -> Request {
        Request {
            memory_bytes: self.memory_bytes.saturating_sub(other.memory_bytes),
            vcores: self.vcores.saturating_sub(other.vcores),
        }
    }
}
