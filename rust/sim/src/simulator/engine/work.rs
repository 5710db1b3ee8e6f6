//! What happens on a machine: executors start, progress and leave.

use super::{Ended, Engine};
use crate::simulator::agenda::{Event, Piece};
use crate::simulator::allocation::first_idle;
use crate::simulator::followed::Followed;
use crate::simulator::machine::Executor;
use crate::simulator::outcome::PackingPiece;
use crate::simulator::resource_manager::PlacedPiece;

/// The end of an executor is summed up slot by slot, which may give a time earlier by this than one
/// multiplication.
const ROUNDING_MS: f64 = 1.0;

impl Engine<'_> {
    /// Looks whether an executor of a machine ended.
    pub(super) fn work(&mut self, machine: usize, now_ms: f64) {
        let node = &mut self.nodes[machine];
        if node.planned_ms == Some(now_ms) {
            node.planned_ms = None;
            self.come_to(machine, now_ms);
            self.plan_work(machine);
        }
    }

    /// Goes through the slots of a machine's executors that end until `now_ms`. The slots concern no other
    /// machine, so they are gone through together when the machine is needed.
    pub(super) fn come_to(&mut self, machine: usize, now_ms: f64) {
        let mut changed = false;
        while let Some(at_ms) = self.nodes[machine].changes_ms
            && at_ms <= now_ms
        {
            self.change(machine, at_ms);
            changed = true;
        }
        if changed {
            self.plan_work(machine);
        }
    }

    /// Lets a machine's time pass to its next change, and handles the executors that end or are killed.
    pub(super) fn change(&mut self, machine: usize, now_ms: f64) {
        self.advance(machine, now_ms);
        let node = &mut self.nodes[machine];
        let ended = node.machine.settle();
        let killed = node.machine.kill(&self.settings.contention);
        for executor in ended {
            self.released(machine, executor, now_ms);
        }
        if let Some(executor) = killed {
            self.counts.killed += 1;
            let again = Some(Piece { number: executor.number, slot: 0 });
            self.left(machine, executor, again, now_ms);
        }
        let node = &mut self.nodes[machine];
        node.changes_ms = node.machine.share_out(&self.settings.contention);
    }

    /// Plans the next look at a machine: the first time at which one of its executors may end or be killed.
    pub(super) fn plan_work(&mut self, machine: usize) {
        let node = &mut self.nodes[machine];
        let Some(changes_ms) = node.changes_ms else {
            return;
        };
        let quiet_until_ms = node.machine.quiet_until_ms(&self.settings.contention);
        let at_ms = changes_ms.max(quiet_until_ms - ROUNDING_MS);
        if node.planned_ms.is_none_or(|planned_ms| planned_ms > at_ms) {
            node.planned_ms = Some(at_ms);
            self.agenda.add(at_ms, Event::Work { machine });
        }
    }

    /// An executor reached the last slot of its container: it is done, or idle for a while.
    fn released(&mut self, machine: usize, executor: Executor, now_ms: f64) {
        if let Some(idle) = executor.idle {
            self.counts.released += 1;
            let idle_slots = idle.resumes_with - executor.last_slot - 1;
            let application = executor.application;
            let piece = Piece { number: executor.number, slot: idle.resumes_with };
            let at_ms = now_ms + idle_slots as f64 * executor.slot_ms;
            self.agenda.add(at_ms, Event::Resumed { application, piece });
        } else {
            self.executors_done += 1;
            let job = &mut self.jobs[executor.application];
            job.left -= 1;
            job.ended_ms = now_ms;
            if job.left == 0 {
                self.jobs_left -= 1;
            }
        }
        self.left(machine, executor, None, now_ms);
    }

    /// A container is gone; the ResourceManager hears of it on the node's next heartbeat.
    fn left(&mut self, machine: usize, executor: Executor, again: Option<Piece>, now_ms: f64) {
        self.nodes[machine].ended.push(Ended {
            container: executor.container,
            application: executor.application,
            again,
        });
        self.wake(machine, now_ms.ceil() as i64);
    }

    pub(super) fn start(&mut self, machine: usize, placed: PlacedPiece, now_ms: i64) {
        let PlacedPiece { application, piece, container } = placed;
        let spec = &self.workload.applications[application];
        let mut coming = spec.executor(self.seed, application, piece.number);
        let slot_ms = f64::from(spec.actual.slot_ms());
        let idle = if self.asks_by_backlog {
            let slots: Vec<_> = coming.clone().collect();
            first_idle(&slots, slot_ms, piece.slot)
        } else {
            None
        };
        let last_slot = idle.map_or(coming.len() - 1, |idle| idle.released_after);
        let most_memory_bytes = coming.most().memory_bytes;
        let demand = coming.nth(piece.slot).unwrap_or_default();
        let following = &self.settings.following;
        let followed = following.is_on().then(|| Box::new(Followed::new(now_ms)));
        let job = &mut self.jobs[application];
        job.containers += 1;
        job.started(piece.number, now_ms);
        self.counts.placed += 1;
        let node = &mut self.nodes[machine];
        node.machine.start(Executor {
            application,
            number: piece.number,
            container,
            demand,
            coming,
            most_memory_bytes,
            slot: piece.slot,
            last_slot,
            idle,
            into_slot_ms: 0.0,
            slot_ms,
            followed,
        });
        self.plan_keeping();
        // A machine whose memory is far too short kills at once.
        self.change(machine, now_ms as f64);
        self.plan_work(machine);
    }

    pub(super) fn advance(&mut self, machine: usize, now_ms: f64) {
        let node = &mut self.nodes[machine];
        let recorded = self.settings.recorded_node == Some(machine);
        let in_use = recorded.then(|| node.machine.in_use()).into_iter().flatten();
        let in_use: Vec<_> =
            in_use.map(|(executor, usage)| (executor.application, usage)).collect();
        let Some(stretch) = node.machine.advance(now_ms) else {
            return;
        };
        self.meter.add(&stretch, node.machine.capacity);
        self.occupancy.add(&node.machine, &stretch);
        let (from_ms, to_ms) = (stretch.from_ms, stretch.to_ms);
        let pieces = in_use.into_iter().map(|(application, usage)| PackingPiece {
            application,
            from_ms,
            to_ms,
            usage,
        });
        self.packing.pieces.extend(pieces);
    }
}
