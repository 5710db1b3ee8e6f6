//! The first heartbeat of each second updates the kept node, even if its own node is full. While an
//! application starves, this heartbeat is therefore not skipped.

use super::Engine;
use crate::simulator::agenda::Event;

const SECOND_MS: i64 = 1_000;

/// Which heartbeat updates the kept node next.
#[derive(Default)]
pub(super) struct Keeping {
    is_planned: bool,
    machine: Option<usize>,
}

impl Keeping {
    /// Whether the heartbeat of this machine is the one.
    pub(super) fn take_if_next(&mut self, machine: usize) -> bool {
        self.machine.take_if(|it| *it == machine).is_some()
    }
}

impl Engine<'_> {
    /// An application may starve now.
    pub(super) fn keep(&mut self, now_ms: i64) {
        self.keeping.is_planned = false;
        let starves_ms = self.manager.starves_from();
        if starves_ms.is_some_and(|starves_ms| starves_ms <= now_ms) {
            let machine = self.beats.first_node_from(now_ms);
            self.keeping.machine = Some(machine);
            self.wake(machine, now_ms);
            self.plan_keeping_at(now_ms + SECOND_MS);
        } else {
            self.plan_keeping();
        }
    }

    /// Something began to wait.
    pub(super) fn plan_keeping(&mut self) {
        if let Some(starves_ms) = self.manager.starves_from() {
            let seconds = starves_ms.saturating_add(SECOND_MS - 1) / SECOND_MS;
            self.plan_keeping_at(seconds.saturating_mul(SECOND_MS));
        }
    }

    fn plan_keeping_at(&mut self, at_ms: i64) {
        if self.settings.skip_idle_heartbeats && !self.keeping.is_planned {
            self.keeping.is_planned = true;
            self.agenda.add(at_ms as f64, Event::Keeping);
        }
    }
}
