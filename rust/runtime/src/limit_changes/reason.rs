//! Why a limit changed.

use elastane_core::plan::LimitReason;

/// Why the plan has another limit for now than it had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ChangeReason {
    /// This process planned no limit before, and none was in force.
    First,
    /// This process plans for the first time, and the agent had limits in force.
    TakenOver,
    /// The core decides about the node from now on.
    Decides,
    /// The core no longer decides about the node.
    NotDecided,
    /// No report came while the last plan held.
    PlanRanOut,
    /// A report came after [`Self::PlanRanOut`].
    ReportedAgain,
    /// The administrator's settings of this limit.
    Settings,
    /// Whether the agent can set this limit.
    Abilities,
    /// The application came to mode `observe`.
    Observed,
    /// The application left mode `observe`.
    NotObserved,
    /// Runs of the application are known that were not when the container was planned.
    ProfileCame,
    /// The request, or what a virtual core is on the node.
    Request,
    /// The share by virtual cores.
    Share,
    /// Slow, so it is lent what the node has left.
    Lent,
    /// What was lent is returned.
    Returned,
    /// The factor of its demand for the limit's resource, before and after.
    Corrected { from: f32, to: f32, was_lent: bool },
    /// It holds more memory than was planned.
    HoldsMore,
    /// It no longer does.
    HoldsLess,
    /// Progress moved its demand by so many seconds; earlier where negative.
    Progress { by_s: i32 },
    /// Time passed. Progress had moved the demand by so many seconds before.
    Step { moved_s: i32, why: LimitReason },
}

impl ChangeReason {
    /// A sentence without its full stop.
    pub(crate) fn words(self) -> String {
        match self {
            Self::First => "the first limits that this ResourceManager plans for it".to_owned(),
            Self::TakenOver => "the first plan of this ResourceManager, which started after the container; before, \
                                the limit that the agent reported"
                .to_owned(),
            Self::Decides => "the core decides about the node again: its mode is enforce".to_owned(),
            Self::NotDecided => "lifted: the core no longer decides about the node, whose mode is not enforce any more"
                .to_owned(),
            Self::PlanRanOut => "lifted by the agent: no report of it arrived until its last plan had run out"
                .to_owned(),
            Self::ReportedAgain => "the node's agent reports again".to_owned(),
            Self::Settings => "the administrator changed plan.* in the configuration".to_owned(),
            Self::Abilities => "what the node's agent can limit changed".to_owned(),
            Self::Observed => "its application is in mode observe now: no profile counts for it".to_owned(),
            Self::NotObserved => {
                "its application is not in mode observe any more: its profile counts".to_owned()
            }
            Self::ProfileCame => {
                "earlier runs of its application are known now: it is planned by its profile".to_owned()
            }
            Self::Request => "its request changed, or what a virtual core is on its node".to_owned(),
            Self::Share => "other containers of the node started or ended, so its share by virtual cores changed"
                .to_owned(),
            Self::Lent => "reprovisioning: it is slow, and is lent what the node has left for one measurement"
                .to_owned(),
            Self::Returned => "reprovisioning: it returned what it was lent".to_owned(),
            Self::Corrected { from, to, was_lent } => {
                let returned = if was_lent { "it returned what it was lent, and " } else { "" };
                format!(
                    "reprovisioning: {returned}by its use its demand is {to:.2} times its prediction, after {from:.2} \
                     times"
                )
            }
            Self::HoldsMore => "it holds more memory than was planned for any time up to now".to_owned(),
            Self::HoldsLess => "it no longer holds more memory than was planned".to_owned(),
            Self::Progress { by_s } => {
                format!("its progress: the plan of its profile goes on {}", moved(by_s))
            }
            Self::Step { moved_s, why } => step(moved_s, why),
        }
    }
}

fn step(moved_s: i32, why: LimitReason) -> String {
    let step = match why {
        LimitReason::PastItsEnd => "its predicted end is near or past: its request",
        _ => "the next step in the plan of its profile",
    };
    match moved_s {
        0 => step.to_owned(),
        _ => format!("{step}, {} by its progress", moved(moved_s)),
    }
}

fn moved(by_s: i32) -> String {
    let direction = if by_s < 0 { "earlier" } else { "later" };
    format!("{} s {direction}", by_s.unsigned_abs())
}
