//! Tells systemd that the agent has started, and from then on that it is not stuck.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// Does nothing unless the unit has `WatchdogSec=`.
#[derive(Debug)]
pub struct Watchdog {
    every: Option<Duration>,
    due: Instant,
}

impl Watchdog {
    /// Twice as often as systemd needs it, as sd_watchdog_enabled(3) advises.
    pub fn new(now: Instant) -> Self {
        Self { every: sd_notify::watchdog_enabled().map(|most| most / 2), due: now }
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.every.map(|_| self.due)
    }

    /// To be called by the thread that follows the plan, with the agent locked: whoever holds the agent for too long, systemd
    /// ends it.
    pub fn works(&mut self, now: Instant) {
        if let Some(every) = self.every.filter(|_| now >= self.due) {
            self.due = now + every;
            notify(NotifyState::Watchdog);
        }
    }
}

/// Does nothing unless the unit has `Type=notify`.
pub fn has_started() {
    notify(NotifyState::Ready);
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        log::error!("cannot tell systemd that the agent works: {error}");
    }
}
