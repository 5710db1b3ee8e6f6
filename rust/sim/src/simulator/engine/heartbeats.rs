//! Nodes ask for work; those that cannot get any sleep until something changes.

use super::{Ended, Engine};
use crate::simulator::agenda::Event;

impl Engine<'_> {
    pub(super) fn heartbeat(&mut self, machine: usize, now_ms: i64) {
        if !self.beats.comes(machine, now_ms) {
            return;
        }
        let ended = std::mem::take(&mut self.nodes[machine].ended);
        for container in ended {
            self.finished(machine, &container, now_ms);
        }
        let placed_last = self.looks(machine, now_ms) && self.place(machine, now_ms);
        if let Some(from_ms) = self.goes_on(machine, placed_last, now_ms) {
            self.wake(machine, from_ms.max(now_ms + 1));
        }
    }

    /// From when on another look at this node may find something; none where it sleeps.
    fn goes_on(&mut self, machine: usize, placed_last: bool, now_ms: i64) -> Option<i64> {
        if !self.settings.skip_idle_heartbeats {
            return Some(now_ms);
        }
        if self.manager.waiting == 0 {
            return None;
        }
        if placed_last {
            return Some(now_ms);
        }
        if self.depends_on_time || self.manager.is_by_request() {
            self.manager.may_place_from(machine, now_ms)
        } else {
            None
        }
    }

    fn finished(&mut self, machine: usize, ended: &Ended, now_ms: i64) {
        self.nodes[machine].changed = true;
        self.manager.finished(machine, &ended.container);
        let job = &mut self.jobs[ended.application];
        job.containers -= 1;
        if job.left == 0 && job.containers == 0 {
            self.manager.ended(ended.application);
        }
        if let Some(piece) = ended.again {
            self.ask(ended.application, [piece], now_ms, Some(machine));
        }
    }

    /// Whether a look at this node can find something.
    fn looks(&mut self, machine: usize, now_ms: i64) -> bool {
        if !self.settings.skip_idle_heartbeats {
            return true;
        }
        let node = &self.nodes[machine];
        let changed = node.changed || node.queue_seen != self.queue_version;
        if self.manager.waiting == 0 || !(self.depends_on_time || changed) {
            return false;
        }
        let from_ms = self.manager.may_place_from(machine, now_ms);
        from_ms.is_some_and(|from_ms| from_ms <= now_ms)
    }

    /// Places as much as one heartbeat may; false where it ended because nothing fits any more.
    fn place(&mut self, machine: usize, now_ms: i64) -> bool {
        self.come_to(machine, now_ms as f64);
        self.manager.measured(&self.nodes[machine].machine);
        for _ in 0..self.settings.assignments_per_heartbeat {
            self.counts.rounds += 1;
            let specs = &self.workload.applications;
            let Some(placed) = self.manager.assign(machine, specs, now_ms) else {
                let node = &mut self.nodes[machine];
                node.changed = false;
                node.queue_seen = self.queue_version;
                return false;
            };
            self.start(machine, placed, now_ms);
        }
        true
    }

    pub(super) fn starvation(&mut self, now_ms: i64) {
        self.starvation_planned = false;
        self.queue_version += 1;
        self.wake_all(now_ms);
        let wait_ms = self.settings.starvation_wait_ms;
        if let Some(at_ms) = self.manager.next_waited(wait_ms, now_ms) {
            self.starvation_planned = true;
            self.agenda.add(at_ms as f64, Event::Starvation);
        }
    }

    /// Something began to wait at `now_ms`.
    pub(super) fn plan_starvation(&mut self, now_ms: i64) {
        let matters = !self.depends_on_time && !self.manager.is_by_request();
        if matters && !self.starvation_planned {
            self.starvation_planned = true;
            let at_ms = now_ms.saturating_add(self.settings.starvation_wait_ms);
            self.agenda.add(at_ms as f64, Event::Starvation);
        }
    }

    pub(super) fn wake(&mut self, machine: usize, from_ms: i64) {
        if let Some(at_ms) = self.beats.plan(machine, from_ms) {
            self.agenda.add(at_ms as f64, Event::Heartbeat { machine });
        }
    }

    /// Has the nodes ask for work that may take a kind of executor which begins to wait. During a
    /// heartbeat those before that node had theirs.
    pub(super) fn wake_for(
        &mut self,
        kind: usize,
        now_ms: i64,
        during_heartbeat_of: Option<usize>,
    ) {
        if !self.settings.skip_idle_heartbeats {
            return; // None of them sleeps.
        }
        if let Some(walk) = &mut self.walks[kind] {
            walk.begin_again();
        } else {
            let walk = self.beats.walk(now_ms, during_heartbeat_of);
            self.agenda.add(walk.at_ms() as f64, Event::Waits { kind });
            self.walks[kind] = Some(walk);
        }
    }

    /// Looks at a node when its heartbeat would be and not before: mostly the first few take all that
    /// waits.
    pub(super) fn walk(&mut self, kind: usize, now_ms: i64) {
        let Some(mut walk) = self.walks[kind].take() else {
            return;
        };
        if !self.manager.waits(kind) {
            return;
        }
        for machine in self.beats.step(&mut walk) {
            if self.beats.is_planned_by(machine, now_ms) {
                continue;
            }
            let until_ms = self.beats.planned_ms(machine);
            let from_ms = self
                .manager
                .may_place_one_from(kind, machine, until_ms, now_ms);
            if let Some(from_ms) = from_ms {
                self.wake(machine, from_ms.max(now_ms));
            }
        }
        if !walk.is_done() {
            self.agenda.add(walk.at_ms() as f64, Event::Waits { kind });
            self.walks[kind] = Some(walk);
        }
    }

    /// Has every node ask for work again.
    pub(super) fn wake_all(&mut self, now_ms: i64) {
        for machine in 0..self.nodes.len() {
            self.wake(machine, now_ms);
        }
    }
}
