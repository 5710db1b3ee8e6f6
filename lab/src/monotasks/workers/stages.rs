//! Ursa's rounds: stages that can be placed whole first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::load::{CpuRoom, Gain, Load, Need, seconds};
use super::{WorkerQueues, memory_bytes};
use crate::monotasks::job::{Kind, Work};
use crate::monotasks::world::World;

/// A stage that waits; `score` is never less than what it would get now.
#[derive(Debug, PartialEq)]
struct Turn {
    score: f64,
    /// Ready before the others, at the same score.
    place: usize,
    stage: u32,
    may_be_whole: bool,
}

impl Eq for Turn {}
impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.total_cmp(&other.score);
        scores.then(other.place.cmp(&self.place))
    }
}
impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where the next tasks of a stage would go, each with D of its worker.
struct Tentative {
    workers: Vec<(usize, Work)>,
    whole: bool,
    /// ΣF.
    f: f64,
}

impl WorkerQueues {
    /// One round. A stage's score is W times the rank of its job, the bonus if all that waits of it
    /// finds a place and, where the parameters say so, ΣF of what finds one; the highest goes first,
    /// and takes what it can get.
    ///
    /// What is free only shrinks within a round, so a score only falls: it is enough to look again at
    /// the stage that was best.
    pub(super) fn place_stages(&mut self, world: &mut World<'_>, by_stage: bool, by_network: bool) {
        let mut loads: Vec<Load> = self
            .workers
            .iter()
            .enumerate()
            .map(|(machine, worker)| Load::of(world, worker, machine))
            .collect();
        let bonus = if by_stage {
            world.parameters.workers.stage_bonus
        } else {
            0.0
        };
        let by_f = world.parameters.workers.score_by_f;
        let mut turns: BinaryHeap<Turn> = self
            .ready
            .iter()
            .enumerate()
            .map(|(place, &stage)| Turn {
                score: self.weighted_rank(world, stage)
                    + bonus
                    + if by_f { most_f(world, stage) } else { 0.0 },
                place,
                stage,
                may_be_whole: by_stage,
            })
            .collect();
        let expected_s = world.parameters.workers.expected_processing_s;
        let mut room = CpuRoom::of(&loads, expected_s);
        while let Some(turn) = turns.pop() {
            if room.is_none() && world.progress.stage(turn.stage).all_compute {
                continue;
            }
            let partly = Turn {
                score: turn.score - bonus,
                may_be_whole: false,
                ..turn
            };
            if turn.may_be_whole && !could_be_whole(world, turn.stage, room) {
                turns.push(partly);
                continue;
            }
            let before = loads.clone();
            let tentative = tentative(world, turn.stage, &mut loads, by_network);
            if turn.may_be_whole && !tentative.whole {
                loads = before;
                turns.push(partly);
                continue;
            }
            if by_f {
                let earned = if turn.may_be_whole { bonus } else { 0.0 };
                let now = Turn {
                    score: self.weighted_rank(world, turn.stage) + earned + tentative.f,
                    ..turn
                };
                if turns.peek().is_some_and(|next| *next > now) {
                    loads = before;
                    turns.push(now);
                    continue;
                }
            }
            for (machine, idle) in tentative.workers {
                self.place(world, turn.stage, machine, idle);
            }
            room = CpuRoom::of(&loads, expected_s);
        }
    }
}

/// False if CPU alone leaves no room for a whole stage; looked at first, as it costs little.
fn could_be_whole(world: &World<'_>, stage: u32, room: CpuRoom) -> bool {
    let state = world.progress.stage(stage);
    let cpu = Kind::Cpu as usize;
    let most_cpu_s = seconds(world.parameters, [0.0, state.most_cpu_s, 0.0])[cpu];
    seconds(world.parameters, state.unplaced)[cpu] <= room.seconds(most_cpu_s)
}

/// At least ΣF of the tasks of a stage: F has D ≤ 1 and `Inc ≤ seconds ÷ EPT` in each term.
fn most_f(world: &World<'_>, stage: u32) -> f64 {
    let unplaced = seconds(world.parameters, world.progress.stage(stage).unplaced);
    unplaced.iter().sum::<f64>() / world.parameters.workers.expected_processing_s
}

/// Places the tasks of a stage one by one, each on the worker with the highest F, on paper.
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
    Tentative {
        whole: workers.len() == state.unplaced_tasks() as usize,
        workers,
        f,
    }
}
