//! What a node has room for by request.

use elastane_core::cluster::Request;

/// More than the core allows what is booked to pass what may be, as a part of it.
const TOLERANCE: f64 = 1e-6;

/// One node's room by request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    registered: Request,
    booked: Request,
    /// Nothing is placed where more than so many times the registered size would be booked.
    most_booked: f64,
}

impl Room {
    pub(super) fn new(registered: Request, most_booked: f64) -> Self {
        Self {
            registered,
            booked: Request::default(),
            most_booked,
        }
    }

    pub(super) fn book(&mut self, request: Request) {
        self.booked.memory_bytes = self
            .booked
            .memory_bytes
            .saturating_add(request.memory_bytes);
        self.booked.vcores = self.booked.vcores.saturating_add(request.vcores);
    }

    pub(super) fn free(&mut self, request: Request) {
        self.booked.memory_bytes = self
            .booked
            .memory_bytes
            .saturating_sub(request.memory_bytes);
        self.booked.vcores = self.booked.vcores.saturating_sub(request.vcores);
    }

    /// Whether the policy may place a container of this request; false only where it does not.
    pub(super) fn may_hold(&self, request: Request) -> bool {
        let may_hold = |registered: f64, booked: f64, asked: f64| {
            booked + asked <= registered * self.most_booked * (1.0 + TOLERANCE)
        };
        let (registered, booked) = (self.registered, self.booked);
        may_hold(
            registered.memory_bytes as f64,
            booked.memory_bytes as f64,
            request.memory_bytes as f64,
        ) && may_hold(
            f64::from(registered.vcores),
            f64::from(booked.vcores),
            f64::from(request.vcores),
        )
    }

    /// Whether a container of this request fits into the registered size beside what is booked.
    pub(super) fn holds(&self, request: Request) -> bool {
        let unbooked = Request {
            memory_bytes: self
                .registered
                .memory_bytes
                .saturating_sub(self.booked.memory_bytes),
            vcores: self.registered.vcores.saturating_sub(self.booked.vcores),
        };
        request.fits_into(unbooked)
    }
}
