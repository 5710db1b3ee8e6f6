//! A round for policies by the plan ([`ByPlan`]): most rows are ruled out, or do not come
//! near the best few, by what [`Screen`] knows of them beforehand.

use super::ClusterSettings;
use super::admission::{Wait, finds_some_left};
use super::contest::{Contender, Contest, Rank};
use super::first::First;
use super::kept::KeptNode;
use super::node_entry::{NodeEntry, NodeId, Request};
use super::notes::Note;
use super::prospect::need;
use super::scores::Scores;
use super::screen::{Look, Screen};
use super::waiting::{Line, Row, Screened, WaitingTable};
use crate::by_plan::ByPlan;
use crate::left::Left;
use crate::need::late_ms;
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
        let mut look = screen.look_at(left);
        let scores = Scores::new(self.by, left, screen);
        let mut first = First::new(self.by, waiting_queues);
        for (row, line) in lines.iter().enumerate() {
            if !line.request.fits_into(self.free) {
                continue;
            }
            let wait = wait_of(line);
            if line.kind.is_application_master()
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
            let starves = match look.short(row, need) {
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
        let holds = first.holds(left, self.by.peaks);
        let need = |row: Row| need(self.entry, predicted[row].as_ref(), lines[row].request).ok();
        let goes_anyway = |contender: &Contender| {
            let line = &lines[contender.row];
            contender.rank.starves() || self.passes(wait_of(line), line, contender.row, screen)
        };
        contest.for_each_mut(|contender| {
            let row = contender.row;
            if !holds.is_empty() && !goes_anyway(contender) {
                contender.behind = holds.behind(contender, screen.most(row), need);
            }
            if contender.behind.is_none() {
                contender.delayed_in = self.delayed_in(row, screen, &look, left);
            }
        });
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
    fn delayed_in(&self, row: Row, screen: &Screen, look: &Look<'_>, left: &Left) -> WindowSet {
        let all_its_work = screen.demanded().total(row);
        if screen.life(row).is_none() || late_ms(left, all_its_work) <= self.settings.pass_ms {
            WindowSet::NONE
        } else {
            look.delayed_in(row)
        }
    }
}
