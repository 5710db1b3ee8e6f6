//! What the last round on a node compared, for those who ask why a container is there.

use super::ApplicationId;
use crate::cluster::ranking::Contender;

/// The most applications that are kept with the verdict [`Verdict::MayGo`].
const MOST_THAT_GO: usize = 6;
/// The most applications that are kept with another verdict.
const MOST_OTHERS: usize = 3;

/// A commit that comes later is not of this round.
const VALID_FOR_MS: i64 = 2_000;

/// An application that a round considered for the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Considered {
    /// The application.
    pub application: ApplicationId,
    /// The policy's score at that time; the smallest goes first, behind priority, starvation and deadlines.
    pub score: f64,
    /// What became of it.
    pub verdict: Verdict,
}

/// Whether a considered application may go to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// CapacityScheduler is told to try it.
    MayGo,
    /// It would delay the planned start of another application.
    WouldDelay(ApplicationId),
    /// A limit of its queue or user is reached by demand.
    AtLimit,
}

/// The best of the applications that the last round considered, best first.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastRound {
    at_ms: i64,
    considered: Vec<Considered>,
}

impl LastRound {
    pub(crate) fn begin(&mut self, now_ms: i64) {
        self.at_ms = now_ms;
        self.considered.clear();
    }

    pub(crate) fn add(&mut self, contender: &Contender, verdict: Verdict) {
        let (may_go, most) = match verdict {
            Verdict::MayGo => (true, MOST_THAT_GO),
            Verdict::WouldDelay(_) | Verdict::AtLimit => (false, MOST_OTHERS),
        };
        let kept = self.considered.iter().filter(|it| (it.verdict == Verdict::MayGo) == may_go);
        if kept.count() < most {
            let (application, score) = (contender.application(), contender.rank.score());
            self.considered.push(Considered { application, score, verdict });
        }
    }

    /// Those of a round that was just now.
    pub(crate) fn considered(&self, now_ms: i64) -> &[Considered] {
        if now_ms.saturating_sub(self.at_ms) <= VALID_FOR_MS { &self.considered } else { &[] }
    }
}
