//! Nodes ask for work. A node that cannot get any work skips its heartbeats until something changes.

use super::{Ended, Engine};
use crate::simulator::SimulationError;
use crate::simulator::agenda::Event;

impl Engine<'_> {
    pub(super) fn heartbeat(&mut self, machine: usize, now_ms: i64) -> Result<(), SimulationError> {
        if !self.beats.comes(machine, now_ms) {
            return Ok(());
        }
        let ended = std::mem::take(&mut self.nodes[machine].ended);
        for container in ended {
            self.finished(machine, &container, now_ms);
        }
        let placed_last =
            self.can_change_something(machine, now_ms) && self.place(machine, now_ms)?;
        if let Some(from_ms) = self.next_look_ms(machine, placed_last, now_ms) {
            self.wake(machine, from_ms.max(now_ms + 1));
        }
        Ok(())
    }

    /// The time from which another look at this node may find something; none if the node sleeps.
    fn next_look_ms(&mut self, machine: usize, placed_last: bool, now_ms: i64) -> Option<i64> {
        if !self.settings.skip_idle_heartbeats || placed_last && self.manager.waiting > 0 {
            return Some(now_ms);
        }
        self.manager.may_place_from(machine, now_ms)
    }

    fn finished(&mut self, machine: usize, ended: &Ended, now_ms: i64) {
        self.manager.finished(machine, ended.application, &ended.container, now_ms);
        let job = &mut self.jobs[ended.application];
        job.containers -= 1;
        if job.left == 0 && job.containers == 0 {
            self.manager.ended(ended.application, now_ms);
            if let Some(lasts_ms) = self.masters.ended(ended.application) {
                let end = Event::MasterEnd { application: ended.application };
                self.agenda.add((now_ms + lasts_ms) as f64, end);
            }
        }
        if let Some(piece) = ended.again {
            self.ask(ended.application, [piece], now_ms, Some(machine));
        }
    }

    /// Whether a look at this node can change something.
    fn can_change_something(&mut self, machine: usize, now_ms: i64) -> bool {
        if !self.settings.skip_idle_heartbeats || self.keeping.take_if_next(machine) {
            return true;
        }
        let from_ms = self.manager.may_place_from(machine, now_ms);
        from_ms.is_some_and(|from_ms| from_ms <= now_ms)
    }

    /// Places as many containers as one heartbeat may. Returns false if it ended because nothing fits any more.
    fn place(&mut self, machine: usize, now_ms: i64) -> Result<bool, SimulationError> {
        self.read(self.manager.read_by_look(machine, now_ms), now_ms)?;
        for _ in 0..self.settings.assignments_per_heartbeat {
            self.counts.rounds += 1;
            let specs = &self.workload.applications;
            let Some(placed) = self.manager.assign(machine, specs, now_ms) else {
                return Ok(false);
            };
            self.start(machine, placed, now_ms);
        }
        Ok(true)
    }

    pub(super) fn wake(&mut self, machine: usize, from_ms: i64) {
        if let Some(at_ms) = self.beats.plan(machine, from_ms) {
            self.agenda.add(at_ms as f64, Event::Heartbeat { machine });
        }
    }

    /// A kind begins to wait: has the nodes that may take its executors ask for work. During the heartbeat
    /// of a node, the nodes before it have had theirs.
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

    /// Looks at a node at the time of its heartbeat and not before: mostly the first few nodes take
    /// everything that waits.
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
            let from_ms = self.manager.may_place_one_from(kind, machine, until_ms, now_ms);
            if let Some(from_ms) = from_ms {
                self.wake(machine, from_ms.max(now_ms));
            }
        }
        if !walk.is_done() {
            self.agenda.add(walk.at_ms() as f64, Event::Waits { kind });
            self.walks[kind] = Some(walk);
        }
    }
}
