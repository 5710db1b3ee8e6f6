//! A round for policies by what remains ([`ByPlan`]): most rows are ruled out, or do not come
//! near the best few, by what [`Screen`] knows of them beforehand.

use super::ClusterSettings;
use super::admission::{Wait, finds_some_left};
use super::contest::{Contender, Contest, Rank};
use super::hold::Hold;
use super::kept::KeptNode;
use super::node_entry::{NodeEntry, NodeId, Request};
use super::notes::Note;
use super::prospect::need;
use super::screen::Screen;
use super::sums::SumsAround;
use super::waiting::{Line, Row, Screened, WaitingTable};
use crate::amounts::Amounts;
use crate::by_plan::{ByPlan, PlanScore, Power};
use crate::left::Left;
use crate::need::{Need, late_ms};
use crate::policy::Turn;
use crate::windows::WindowSet;

/// One round on one node.
pub(super) struct Quick<'a> {
    by: ByPlan,
    entry: &'a NodeEntry,
    node: NodeId,
    free: Request,
    now_ms: i64,
    settings: &'a ClusterSettings,
    kept: Option<KeptNode>,
}

impl<'a> Quick<'a> {
    pub(super) fn new(
        by: ByPlan,
        settings: &'a ClusterSettings,
        entry: &'a NodeEntry,
        node: NodeId,
        free: Request,
        kept: Option<KeptNode>,
        now_ms: i64,
    ) -> Self {
        Self {
            by,
            entry,
            node,
            free,
            now_ms,
            settings,
            kept,
        }
    }

    /// The best of each queue; notes why others do not fit. `held_back` are the queues whose
    /// application masters have to wait.
    pub(super) fn contest(
        &self,
        waiting: &mut WaitingTable,
        held_back: Option<&[bool]>,
        places: usize,
    ) -> Contest {
        let waiting_queues = waiting.queue_count();
        let mut contest = Contest::new(places, waiting_queues);
        let wait_of = |line: &Line| Wait {
            waited_ms: self.now_ms.saturating_sub(line.since_ms),
            gets_on: line.gets_on,
        };
        let Screened {
            lines,
            predicted,
            screen,
            notes,
        } = waiting.screened(self.entry, self.by.peaks);
        let left = self.entry.plan.left();
        let scores = Scores::new(self.by, left, screen);
        let mut first = First::new(self.by, waiting_queues);
        for (row, line) in lines.iter().enumerate() {
            if !line.request.fits_into(self.free) {
                continue;
            }
            let wait = wait_of(line);
            if line.application_master
                && held_back.is_some_and(|queues| queues[line.queue as usize])
                && wait.waited_ms < self.settings.starvation_wait_ms
            {
                continue;
            }
            if let Some(kept) = &self.kept
                && !kept.lets(line, screen.life(row), self.now_ms)
            {
                notes.set(row, line, Note::Kept { node: self.node });
                continue;
            }
            let need = || need(self.entry, predicted[row].as_ref(), line.request).ok();
            let starves = match screen.short(row, left, need) {
                None => continue,
                Some(Ok(())) => false,
                Some(Err(_))
                    if wait.waited_ms >= self.settings.starvation_wait_ms
                        && self.passes(wait, line, row, screen) =>
                {
                    true
                }
                Some(Err(resource)) => {
                    first.offer(row, line, self.now_ms, &scores, need);
                    let node = self.node;
                    notes.set(row, line, Note::Short { node, resource });
                    continue;
                }
            };
            if contest.is_lost(line, starves, scores.at_least(row, line)) {
                continue;
            }
            let Some(need) = need() else {
                continue;
            };
            contest.enter(Contender {
                rank: Rank::new(line, starves, Turn::Usual, scores.exactly(row, line, &need)),
                row,
                queue: line.queue as usize,
                delayed_in: WindowSet::NONE,
                behind: None,
            });
        }
        let need = |row: Row| need(self.entry, predicted[row].as_ref(), lines[row].request).ok();
        let holds = if contest.is_empty() {
            Vec::new()
        } else {
            first.holds(left, need)
        };
        for contender in contest.contenders_mut() {
            let row = contender.row;
            contender.delayed_in = self.delayed_in(row, screen, left);
            if holds.is_empty()
                || contender.rank.starves()
                || self.passes(wait_of(&lines[row]), &lines[row], row, screen)
            {
                continue;
            }
            contender.behind = need(row).and_then(|need| {
                let (most, terms) = (screen.most(row), need.terms(self.by.peaks));
                let mut holds = holds.iter();
                let hold = holds.find(|hold| hold.holds_up(contender, most, &need, terms));
                hold.map(Hold::application)
            });
        }
        contest
    }

    /// Whether a row that starves passes. Out of the way of those that do not.
    #[cold]
    fn passes(&self, wait: Wait, line: &Line, row: Row, screen: &Screen) -> bool {
        let left_now = self.entry.plan.left().slot(0);
        wait.passes(
            self.settings,
            || self.entry.has_room_by_request(line.request),
            || finds_some_left(left_now, screen.demanded().total(row), self.by.peaks),
        )
    }

    /// Where the row may be delayed long enough to pass on the node.
    fn delayed_in(&self, row: Row, screen: &Screen, left: &Left) -> WindowSet {
        let all_its_work = screen.demanded().total(row);
        if screen.life(row).is_none() || late_ms(left, all_its_work) <= self.settings.pass_ms {
            WindowSet::NONE
        } else {
            screen.delayed_in(row, left)
        }
    }
}

/// An application that was named for so long and was not placed is kept away by what the core does
/// not know, such as limits, labels and blacklists: no room is held for it.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// The first few of each queue among those that do not fit now.
struct First {
    by: ByPlan,
    contest: Option<Contest>,
}

impl First {
    fn new(by: ByPlan, queues: usize) -> Self {
        let contest = (by.hold > 0).then(|| Contest::new(by.hold as usize, queues));
        Self { by, contest }
    }

    #[inline]
    fn offer<'a>(
        &mut self,
        row: Row,
        line: &Line,
        now_ms: i64,
        scores: &Scores<'_>,
        need: impl FnOnce() -> Option<Need<'a>>,
    ) {
        let Some(contest) = &mut self.contest else {
            return;
        };
        let in_vain = line
            .named_since_ms
            .is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= IN_VAIN_AFTER_MS);
        if in_vain || contest.is_lost(line, false, scores.at_least(row, line)) {
            return;
        }
        if let Some(need) = need() {
            contest.enter(Contender {
                rank: Rank::new(line, false, Turn::Usual, scores.exactly(row, line, &need)),
                row,
                queue: line.queue as usize,
                delayed_in: WindowSet::NONE,
                behind: None,
            });
        }
    }

    fn holds<'a>(&self, left: &Left, need: impl Fn(Row) -> Option<Need<'a>>) -> Vec<Hold> {
        let contenders = self.contest.iter().flat_map(Contest::in_order);
        contenders
            .filter_map(|contender| {
                Hold::new(&contender, &need(contender.row)?, left, self.by.peaks)
            })
            .collect()
    }
}

/// The scores of rows on one node.
struct Scores<'a> {
    by: ByPlan,
    left: &'a Left,
    screen: &'a Screen,
    /// 1 ÷ capacity; 0 for what the node does not know.
    per_capacity: [f64; 4],
    first_end: Option<ToFirstEnd<'a>>,
}

/// Up to the earliest predicted end on the node, which is the horizon of all rows that live longer.
struct ToFirstEnd<'a> {
    slots: usize,
    remaining: Remaining,
    demanded: SumsAround<'a>,
}

/// What is left up to a horizon, as a score goes by it.
#[derive(Clone, Copy)]
struct Remaining {
    left: [f64; 4],
    per_capacity: [f64; 4],
}

impl Remaining {
    /// `per_capacity` is 1 ÷ capacity, 0 for what the node does not know.
    fn new(left: Amounts, per_capacity: [f64; 4], horizon: usize) -> Self {
        let per_slot = 1.0 / horizon as f64;
        Self {
            left: left.to_array().map(|left| left as f64),
            per_capacity: per_capacity.map(|per_capacity| per_capacity * per_slot),
        }
    }

    /// The score but for the last digits.
    #[inline]
    fn score(&self, by: ByPlan, demanded: Amounts) -> f64 {
        let demanded = demanded.to_array();
        by.of_shares(std::array::from_fn(|i| {
            (self.left[i] - demanded[i] as f64) * self.per_capacity[i]
        }))
    }
}

impl<'a> Scores<'a> {
    fn new(by: ByPlan, left: &'a Left, screen: &'a Screen) -> Self {
        let per_capacity = left.capacity().to_array().map(|capacity| {
            if capacity > 0 {
                1.0 / capacity as f64
            } else {
                0.0
            }
        });
        let first_end = left.first_end().map(|slots| ToFirstEnd {
            slots,
            remaining: Remaining::new(left.sum(slots), per_capacity, slots),
            demanded: screen.demanded().around(slots),
        });
        Self {
            by,
            left,
            screen,
            per_capacity,
            first_end,
        }
    }

    /// No more than the row's score but for the last digits.
    #[inline]
    fn at_least(&self, row: Row, line: &Line) -> f64 {
        if let PlanScore::Waiting(power) = self.by.score {
            return self.waiting(power, row, line);
        }
        let demanded = self.screen.demanded().total(row);
        let (horizon, demanded) = match (&self.first_end, self.screen.life(row)) {
            (Some(end), Some(life)) if life > end.slots => {
                return end.remaining.score(self.by, end.demanded.at_least(row));
            }
            (_, Some(life)) => (life, demanded),
            (_, None) => {
                let horizon = self.by.horizon(self.left, None);
                (horizon, demanded.times(horizon as i64))
            }
        };
        let left = self.left.sum(horizon);
        Remaining::new(left, self.per_capacity, horizon).score(self.by, demanded)
    }

    fn exactly(&self, row: Row, line: &Line, need: &Need<'_>) -> f64 {
        if let PlanScore::Waiting(power) = self.by.score {
            return self.waiting(power, row, line);
        }
        match (&self.first_end, self.screen.life(row)) {
            (Some(end), Some(life)) if life > end.slots => {
                let demanded = end.demanded.exactly(row, need);
                self.by.remaining(self.left, end.slots, demanded)
            }
            (_, Some(life)) => {
                self.by
                    .remaining(self.left, life, self.screen.demanded().total(row))
            }
            (_, None) => self.by.score(self.left, need, line.executors),
        }
    }

    #[inline]
    fn waiting(&self, power: Power, row: Row, line: &Line) -> f64 {
        let demanded = self.screen.demanded().total(row);
        let life = self.screen.life(row);
        power.score(self.left.capacity(), demanded, life, line.executors)
    }
}
