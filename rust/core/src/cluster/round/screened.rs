//! A round for policies by the plan ([`ByPlan`]). The columns of [`Screen`] rule out most rows, or
//! prove that their score wins no place.

use super::{Offer, is_user_at_limit};
use crate::by_plan::ByPlan;
use crate::cluster::bookable::Shares;
use crate::cluster::patience::{KeptAsOffered, starves, urgency, waits_for_others};
use crate::cluster::ranking::{Contender, Contest, FitFilter, Scores, Urgency};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::starts::ClaimsOnNode;
use crate::cluster::state::{ApplicationId, Applications, Countables, NodeEntry, RegisteredOnly};
use crate::cluster::waiting::{Line, Note, Row, Screened, WaitingTable};
use crate::need::Need;
use crate::resources::Resource;

/// One round on one node.
pub(crate) struct ScreenedRound<'a> {
    pub(crate) by: ByPlan,
    pub(crate) entry: &'a NodeEntry,
    pub(crate) offer: Offer<'a>,
    pub(crate) now_ms: i64,
    pub(crate) settings: &'a ClusterSettings,
    pub(crate) kept: Option<KeptAsOffered>,
    pub(crate) claims: Option<&'a ClaimsOnNode>,
    pub(crate) shares: &'a Shares,
    pub(crate) applications: &'a Applications,
}

/// The result for one row.
enum Check {
    Fits,
    /// It does not fit, and may go because it starves or its queue is owed its guarantee.
    Starves,
    /// It does not fit, and may go because its queue is owed the flow that it lacks.
    OwedFlow,
    /// It does not fit.
    Lacks(Resource),
    /// The node is kept for another application.
    Kept,
    /// It would start above the node's registered size, and may not.
    RegisteredOnly(RegisteredOnly),
    /// Nothing that a person would be told.
    LeftOut,
}

impl ScreenedRound<'_> {
    /// The best contenders of each queue; notes why other rows wait. `held_back` are the queues
    /// whose application masters have to wait.
    pub(crate) fn contest(
        &self,
        waiting: &mut WaitingTable,
        held_back: Option<&[bool]>,
        places: usize,
    ) -> Contest {
        let mut contest = Contest::new(places, waiting.queue_count());
        let Screened { lines, predicted, countables, screen, notes } =
            waiting.screened(self.entry, self.by.peaks);
        let left = self.entry.plan.left();
        let mut filter = FitFilter::new(screen, left);
        let scores = Scores::new(self.by, left, screen);
        let need_of = |row: Row| self.entry.need(predicted[row].as_ref(), lines[row].request);
        for (row, line) in lines.iter().enumerate() {
            let need = || need_of(row);
            let urgency = match self.check(row, line, countables, held_back, &mut filter, need) {
                Check::Fits => urgency(line, || screen.life(row), self.now_ms),
                Check::OwedFlow => Urgency::OwedFlow,
                Check::Starves => Urgency::Starves,
                Check::Lacks(resource) => {
                    notes[row] = Note::NoFit { node: self.offer.node, resource };
                    continue;
                }
                Check::Kept => {
                    notes[row] = Note::Kept { node: self.offer.node };
                    continue;
                }
                Check::RegisteredOnly(why) => {
                    notes[row] = Note::RegisteredOnly { node: self.offer.node, why };
                    continue;
                }
                Check::LeftOut => continue,
            };
            contest.offer(row, line, urgency, &scores, need);
        }
        let Some(claims) = self.claims else {
            return contest;
        };
        let goes_anyway = |contender: &Contender| {
            let line = &lines[contender.row];
            contender.rank.goes_by_request() || self.starves(line) || self.is_owed(line)
        };
        contest.for_each_mut(|contender| {
            if !goes_anyway(contender) {
                let most = screen.needs(contender.row).most;
                contender.waits_behind =
                    claims.blocking_owner(left, contender, most, &need_of(contender.row));
            }
        });
        contest
    }

    /// All that fit, or go all the same; notes why other rows wait.
    pub(crate) fn fitting(
        &self,
        waiting: &mut WaitingTable,
        held_back: Option<&[bool]>,
    ) -> Vec<ApplicationId> {
        let Screened { lines, predicted, countables, screen, notes } =
            waiting.screened(self.entry, self.by.peaks);
        let mut filter = FitFilter::new(screen, self.entry.plan.left());
        let mut fitting = Vec::new();
        for (row, line) in lines.iter().enumerate() {
            let need = || self.entry.need(predicted[row].as_ref(), line.request);
            match self.check(row, line, countables, held_back, &mut filter, need) {
                Check::Fits | Check::Starves | Check::OwedFlow => fitting.push(line.application),
                Check::Lacks(resource) => {
                    notes[row] = Note::NoFit { node: self.offer.node, resource };
                }
                Check::Kept => notes[row] = Note::Kept { node: self.offer.node },
                Check::RegisteredOnly(why) => {
                    notes[row] = Note::RegisteredOnly { node: self.offer.node, why };
                }
                Check::LeftOut => {}
            }
        }
        fitting
    }

    /// Whether a row may go to the node.
    #[inline]
    fn check<'b>(
        &self,
        row: Row,
        line: &Line,
        countables: &[Countables],
        held_back: Option<&[bool]>,
        filter: &mut FitFilter<'_>,
        need: impl Fn() -> Need<'b>,
    ) -> Check {
        if !line.is_ordered
            || is_user_at_limit(line, self.entry)
            || !line.request.fits_into(self.offer.free)
            || line.asks_countables && !countables[row].fits_into(self.offer.free_countables)
        {
            return Check::LeftOut;
        }
        let life = || filter.screen().life(row);
        if waits_for_others(line, held_back, self.settings, life, self.now_ms) {
            return Check::LeftOut;
        }
        if let Some(kept) = &self.kept
            && !kept.admits(line, filter.screen().life(row), self.now_ms)
        {
            return Check::Kept;
        }
        if let Some(why) = self.entry.keeps_out(line.observed, line.request, self.now_ms) {
            return Check::RegisteredOnly(why);
        }
        match filter.check(row, &need) {
            Ok(()) => Check::Fits,
            Err(_) if self.is_owed(line) => Check::Starves,
            Err(_) if self.starves(line) && self.entry.has_room_by_request(line.request) => {
                Check::Starves
            }
            Err(resource)
                if self.shares.is_any_flow_beyond(&self.entry.label)
                    && self.is_owed_flow(line, need, resource) =>
            {
                Check::OwedFlow
            }
            Err(resource) => Check::Lacks(resource),
        }
    }

    #[inline]
    fn starves(&self, line: &Line) -> bool {
        starves(self.settings, line.since_ms, self.now_ms)
    }

    /// Whether a row may go by request; see [`Shares::owes`].
    #[inline]
    fn is_owed(&self, line: &Line) -> bool {
        let label = &self.entry.label;
        self.shares.is_any_over_guarantee(label)
            && self.entry.has_room_by_request(line.request)
            && self
                .applications
                .get(&line.application)
                .is_some_and(|it| self.shares.owes(&it.queue, label, line.request))
    }

    /// Whether a row that lacks a flow may go; see [`Shares::owed`]. Cold, to keep the loop over the others small.
    #[cold]
    fn is_owed_flow<'b>(
        &self,
        line: &Line,
        need: impl FnOnce() -> Need<'b>,
        lacking: Resource,
    ) -> bool {
        let label = &self.entry.label;
        self.entry.has_room_by_request(line.request)
            && self.applications.get(&line.application).is_some_and(|it| {
                let mean = || self.entry.planned_mean(it.demands.of(line.kind), line.request);
                self.shares.owed(&it.queue, label, line.request, mean, lacking).is_some()
            })
            && need().fits_but_for(self.entry.plan.left(), self.by.peaks, lacking)
    }
}
