//! What is known of one container: the limits planned for now, what they followed, and their latest changes.

use elastane_core::cluster::ContainerLimits;
use elastane_core::plan::{LIMIT_NAMES, LimitReason, PlanSettings, amounts, is_same_step};
use elastane_core::reprovision::{Correction, Reprovisioned};
use elastane_core::{Resource, Resources};
use elastane_protocol::{CanLimit, Limits};

use super::amount::MaybeLimit;
use super::reason::ChangeReason;
use super::{LastReport, LimitChange};

/// The latest changes that are kept of a container: all limits may change at once.
pub(super) const KEPT: usize = LIMIT_NAMES.len();

const LIMITS: usize = LIMIT_NAMES.len();
/// Number of changes that a full list is extended by. It is small, as most containers have few limits.
const MORE_CHANGES: usize = 2;
/// The place of memory in [`LIMIT_NAMES`].
const MEMORY: usize = 2;

/// [`Resources`] in half of their width, in the order of [`Resource::ALL`].
type Amounts = [f32; Resource::ALL.len()];

/// What a container's limits follow now.
pub(super) struct Now<'a> {
    pub(super) last: LastReport,
    pub(super) this: LastReport,
    /// In the order of [`LIMIT_NAMES`].
    pub(super) planned: [Option<f64>; LIMITS],
    pub(super) limits: &'a ContainerLimits,
    /// When the container started.
    pub(super) started_ms: i64,
    /// The latest correction that came with this report.
    pub(super) correction: Option<&'a Reprovisioned>,
}

#[derive(Debug)]
pub(super) struct KnownContainer {
    /// As of the last change of each.
    planned: [MaybeLimit; LIMITS],
    start_ms: i64,
    moved_ms: i64,
    factors: Amounts,
    request: Amounts,
    /// What it was lent on top of its demand; 0 without a loan.
    lent: Amounts,
    is_by_virtual_cores: bool,
    is_observed: bool,
    holds_more: bool,
    /// Oldest first.
    changes: Vec<LimitChange>,
}

impl Now<'_> {
    pub(super) fn is_limited(&self) -> bool {
        self.planned.iter().any(Option::is_some)
    }

    fn why(&self, limits: &ContainerLimits, place: usize) -> Option<(f64, LimitReason)> {
        let LastReport { at_ms, settings, can_limit, .. } = &self.this;
        let reasoned = limits.reasoned(settings, *can_limit, *at_ms).all()[place]?;
        Some((reasoned.amount, reasoned.why))
    }

    /// What the administrator or the agent changed of a limit since the last report.
    fn set_up(&self, place: usize) -> Option<ChangeReason> {
        let Self { last, this, .. } = self;
        if setting(&last.settings, place) != setting(&this.settings, place) {
            return Some(ChangeReason::Settings);
        }
        let is_changed = can_set(last.can_limit, place) != can_set(this.can_limit, place);
        is_changed.then_some(ChangeReason::Abilities)
    }
}

impl KnownContainer {
    /// The first limits for a container. `in_force` is what the agent reports.
    pub(super) fn begin(now: &Now<'_>, in_force: Option<Limits>, factors: Resources) -> Self {
        let in_force = amounts(&in_force.unwrap_or_default());
        let is_taken_over = in_force.iter().any(Option::is_some);
        let mut known = Self {
            planned: in_force.map(MaybeLimit::of),
            start_ms: 0,
            moved_ms: 0,
            factors: narrow(factors),
            request: narrow(now.limits.request()),
            lent: Amounts::default(),
            is_by_virtual_cores: now.limits.is_by_virtual_cores(),
            is_observed: now.limits.is_observed(),
            holds_more: false,
            changes: Vec::new(),
        };
        let ran_before = now.started_ms < now.last.at_ms;
        known.changed(now, |_, place| match now.last.decides {
            _ if is_taken_over => ChangeReason::TakenOver,
            false if ran_before => ChangeReason::Decides,
            true if ran_before => now.set_up(place).unwrap_or(ChangeReason::First),
            _ => ChangeReason::First,
        });
        known.note(now);
        known
    }

    pub(super) fn go_on(&mut self, now: &Now<'_>, factors: impl Fn() -> Resources) {
        // Corrections are not noted while the core does not decide.
        let may_differ = now.correction.is_some() || !now.last.decides;
        let factors = if may_differ { narrow(factors()) } else { self.factors };
        self.changed(now, |known, place| known.reason(now, place, factors));
        self.factors = factors;
        self.note(now);
    }

    /// The core does not decide about the node, which ends a loan.
    pub(super) fn not_decided(&mut self, at_ms: i64) {
        self.lift(at_ms, ChangeReason::NotDecided);
        self.lent = Amounts::default();
        self.holds_more = false;
    }

    /// Nothing is limited from this time on.
    pub(super) fn lift(&mut self, at_ms: i64, reason: ChangeReason) {
        for place in 0..LIMITS {
            if self.planned[place].amount().is_some() {
                self.change(place, None, at_ms, reason);
            }
        }
    }

    /// Newest first.
    pub(super) fn changes(&self) -> impl Iterator<Item = LimitChange> {
        self.changes.iter().rev().copied()
    }

    fn changed(&mut self, now: &Now<'_>, reason: impl Fn(&Self, usize) -> ChangeReason) {
        for (place, to) in now.planned.into_iter().enumerate() {
            let is_same = match (self.planned[place].amount(), to) {
                (Some(from), Some(to)) => is_same_step(from.into(), to),
                (from, to) => from.is_none() && to.is_none(),
            };
            if !is_same {
                let reason = reason(self, place);
                self.change(place, to, now.this.at_ms, reason);
            }
        }
    }

    fn change(&mut self, place: usize, to: Option<f64>, at_ms: i64, reason: ChangeReason) {
        if self.changes.len() == KEPT {
            self.changes.remove(0);
        } else if self.changes.len() == self.changes.capacity() {
            self.changes.reserve_exact(MORE_CHANGES);
        }
        let to = MaybeLimit::of(to);
        let from = std::mem::replace(&mut self.planned[place], to);
        self.changes.push(LimitChange { at_ms, from, to, place: place as u8, reason });
    }

    /// Keeps what the next report is compared with.
    fn note(&mut self, now: &Now<'_>) {
        self.start_ms = now.limits.start_ms();
        self.moved_ms = now.limits.moved_ms(now.started_ms);
        self.request = narrow(now.limits.request());
        self.is_by_virtual_cores = now.limits.is_by_virtual_cores();
        self.is_observed = now.limits.is_observed();
        self.lent = self.lent_after(now.correction);
        let mut newest = self.changes.iter().rev().take_while(|it| it.at_ms == now.this.at_ms);
        let may_hold_more = self.holds_more || newest.any(|it| usize::from(it.place) == MEMORY);
        self.holds_more = may_hold_more
            && now.why(now.limits, MEMORY).is_some_and(|(_, why)| why == LimitReason::HoldsMore);
    }

    fn lent_after(&self, correction: Option<&Reprovisioned>) -> Amounts {
        match correction.map(|it| it.what) {
            Some(Correction::Opened { lent, .. }) => narrow(lent),
            Some(Correction::Measured { .. } | Correction::Returned { .. }) => Amounts::default(),
            Some(Correction::Reschedule { .. } | Correction::Unused { .. }) | None => self.lent,
        }
    }

    /// Why a limit that was planned is planned otherwise now.
    fn reason(&self, now: &Now<'_>, place: usize, factors: Amounts) -> ChangeReason {
        let Now { last, this, limits, .. } = now;
        if !last.decides {
            return ChangeReason::Decides;
        }
        if last.runs_out_ms() < this.at_ms {
            return ChangeReason::ReportedAgain;
        }
        if let Some(set_up) = now.set_up(place) {
            return set_up;
        }
        if self.request != narrow(limits.request()) {
            return ChangeReason::Request;
        }
        match (self.is_by_virtual_cores, limits.is_by_virtual_cores()) {
            (false, true) => return ChangeReason::Observed,
            (true, false) if self.is_observed => return ChangeReason::NotObserved,
            (true, false) => return ChangeReason::ProfileCame,
            (true, true) => return ChangeReason::Share,
            (false, false) => {}
        }
        let why = now.why(limits, place).map_or(LimitReason::Planned, |(_, why)| why);
        if why == LimitReason::HoldsMore {
            return ChangeReason::HoldsMore;
        }
        let corrected = self.corrected(now.correction, resource(place), factors);
        corrected.unwrap_or_else(|| match place {
            MEMORY if self.holds_more => ChangeReason::HoldsLess,
            _ => self.moved(now, place, why),
        })
    }

    fn corrected(
        &self,
        correction: Option<&Reprovisioned>,
        resource: Resource,
        factors: Amounts,
    ) -> Option<ChangeReason> {
        let (from, to) = (self.factors[resource as usize], factors[resource as usize]);
        let was_lent = self.lent[resource as usize] > 0.0;
        match correction.map(|it| it.what) {
            Some(Correction::Opened { lent, .. }) if lent.get(resource) > 0.0 => {
                Some(ChangeReason::Lent)
            }
            Some(Correction::Measured { .. } | Correction::Unused { .. }) if from != to => {
                Some(ChangeReason::Corrected { from, to, was_lent })
            }
            Some(Correction::Measured { .. } | Correction::Returned { .. }) => {
                was_lent.then_some(ChangeReason::Returned)
            }
            // A loan is smaller in its second slot if the node has less left then.
            _ => was_lent.then_some(ChangeReason::Lent),
        }
    }

    /// By time or by progress: had its demand not been moved since the last report, time alone gives the same limit.
    fn moved(&self, now: &Now<'_>, place: usize, why: LimitReason) -> ChangeReason {
        let moved_ms = now.limits.moved_ms(now.started_ms);
        let by_s = seconds(moved_ms - self.moved_ms);
        let unmoved = || now.why(&now.limits.started_at(self.start_ms), place);
        let by_time = |to: f64| unmoved().is_some_and(|(amount, _)| is_same_step(amount, to));
        match now.planned[place] {
            Some(to) if by_s != 0 && !by_time(to) => ChangeReason::Progress { by_s },
            _ => ChangeReason::Step { moved_s: seconds(moved_ms), why },
        }
    }
}

fn narrow(resources: Resources) -> Amounts {
    resources.to_array().map(|amount| amount as f32)
}

fn seconds(ms: i64) -> i32 {
    i32::try_from(ms / 1_000).unwrap_or(i32::MAX)
}

fn resource(place: usize) -> Resource {
    match place {
        0 | 1 => Resource::Cpu,
        MEMORY => Resource::Memory,
        3 => Resource::Disk,
        _ => Resource::Network,
    }
}

/// The setting that turns a limit on: 1, or the ratio of a cap.
fn setting(settings: &PlanSettings, place: usize) -> Option<f64> {
    let switch = |is_on: bool| is_on.then_some(1.0);
    match place {
        0 => switch(settings.weighs_cpu),
        1 => settings.cpu_cap_ratio,
        MEMORY => switch(settings.limits_memory),
        3 => settings.disk_cap_ratio,
        4 => switch(true),
        _ => settings.network_cap_ratio,
    }
}

fn can_set(can_limit: CanLimit, place: usize) -> bool {
    match place {
        0 | 1 => can_limit.cpu,
        MEMORY => can_limit.memory,
        3 => can_limit.disk,
        4 => can_limit.network_sent,
        _ => can_limit.network_sent || can_limit.network_received,
    }
}
