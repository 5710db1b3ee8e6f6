//! Ursa's rounds: stages whose tasks can all be placed go first.

use std::collections::BinaryHeap;

use super::load::{CpuRoom, Gain, Load, Need, seconds};
use super::{WorkerQueues, memory_bytes};
use crate::monotasks::job::{Kind, Work};
use crate::monotasks::queued::Queued;
use crate::monotasks::world::World;

/// A waiting stage.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Turn {
    stage: u32,
    may_be_whole: bool,
}

/// The tentative workers of the next tasks of a stage, each with its D.
struct Tentative {
    workers: Vec<(usize, Work)>,
    whole: bool,
    /// ΣF.
    f: f64,
}

impl WorkerQueues {
    /// One round. The score of a stage is W times the rank of its job, plus the bonus if all of its
    /// waiting tasks can be placed, plus ΣF of the placed tasks if `score_by_f`. The stage with the
    /// highest score goes first and places all tasks that fit.
    ///
    /// Free capacity only shrinks within a round, so a score only falls, and only the best stage has to
    /// be scored again.
    pub(super) fn place_stages(&mut self, world: &mut World<'_>, by_stage: bool, by_network: bool) {
        let mut loads: Vec<Load> = self
            .workers
            .iter()
            .enumerate()
            .map(|(machine, worker)| Load::of(world, worker, machine))
            .collect();
        let bonus = if by_stage { world.parameters.workers.stage_bonus } else { 0.0 };
        let by_f = world.parameters.workers.score_by_f;
        let turns = (0..).zip(&self.ready).map(|(arrival, &stage)| Queued {
            // An upper bound of the score.
            priority: self.weighted_rank(world, stage)
                + bonus
                + if by_f { most_f(world, stage) } else { 0.0 },
            arrival,
            item: Turn { stage, may_be_whole: by_stage },
        });
        let mut turns: BinaryHeap<Queued<Turn>> = turns.collect();
        let expected_s = world.parameters.workers.expected_processing_s;
        let mut room = CpuRoom::of(&loads, expected_s);
        while let Some(turn) = turns.pop() {
            let Turn { stage, may_be_whole } = turn.item;
            if room.is_none() && world.progress.stage(stage).all_compute {
                continue;
            }
            let partly = Queued {
                priority: turn.priority - bonus,
                item: Turn { stage, may_be_whole: false },
                ..turn
            };
            if may_be_whole && !could_be_whole(world, stage, room) {
                turns.push(partly);
                continue;
            }
            let before = loads.clone();
            let tentative = tentative(world, stage, &mut loads, by_network);
            if may_be_whole && !tentative.whole {
                loads = before;
                turns.push(partly);
                continue;
            }
            if by_f {
                let earned = if may_be_whole { bonus } else { 0.0 };
                let now = Queued {
                    priority: self.weighted_rank(world, stage) + earned + tentative.f,
                    ..turn
                };
                if turns.peek().is_some_and(|next| *next > now) {
                    loads = before;
                    turns.push(now);
                    continue;
                }
            }
            for (machine, idle) in tentative.workers {
                self.place(world, stage, machine, idle);
            }
            room = CpuRoom::of(&loads, expected_s);
        }
    }
}

/// False if the free CPU cannot hold the whole stage. Cheap, so it is checked first.
fn could_be_whole(world: &World<'_>, stage: u32, room: CpuRoom) -> bool {
    let state = world.progress.stage(stage);
    let cpu = Kind::Cpu as usize;
    let most_cpu_s = seconds(world.parameters, [0.0, state.most_cpu_s, 0.0])[cpu];
    seconds(world.parameters, state.unplaced)[cpu] <= room.seconds(most_cpu_s)
}

/// An upper bound of ΣF of the tasks of a stage: each term has D ≤ 1 and `Inc ≤ seconds ÷ EPT`.
fn most_f(world: &World<'_>, stage: u32) -> f64 {
    let unplaced = seconds(world.parameters, world.progress.stage(stage).unplaced);
    unplaced.iter().sum::<f64>() / world.parameters.workers.expected_processing_s
}

/// Assigns the tasks of a stage one by one to the worker with the highest F, without placing them.
fn tentative(world: &World<'_>, stage: u32, loads: &mut [Load], by_network: bool) -> Tentative {
    let state = world.progress.stage(stage);
    let expected_s = world.parameters.workers.expected_processing_s;
    let mut workers = Vec::new();
    let mut f = 0.0;
    for task in state.next..state.tasks.end {
        let need = Need {
            seconds: seconds(world.parameters, world.progress.task(task).work),
            memory_bytes: memory_bytes(world, task),
        };
        let mut best: Option<(usize, Gain)> = None;
        for (machine, load) in loads.iter().enumerate() {
            if let Some(gain) = load.gain(&need, expected_s, by_network)
                && best.is_none_or(|(_, best)| gain.f > best.f)
            {
                best = Some((machine, gain));
            }
        }
        let Some((machine, gain)) = best else {
            break;
        };
        loads[machine].add(&need);
        workers.push((machine, gain.idle));
        f += gain.f;
    }
    Tentative { whole: workers.len() == state.unplaced_tasks() as usize, workers, f }
}
