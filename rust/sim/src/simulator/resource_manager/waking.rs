//! From when on a round on a node may place something. Until then the node's heartbeats are skipped.

use elastane_core::cluster::{NodeId, Outlook, Request, StartNeeds};
use elastane_core::{Cluster, SLOT_MS};

use super::{ResourceManager, TOLERANCE, node_of};
use crate::simulator::kinds::{DemandKind, Kinds};

const SLOT: i64 = SLOT_MS as i64;

/// No container of the kind fits before an executor starts or ends on the node.
const NEVER: u32 = u32::MAX;

impl ResourceManager {
    /// The time from which a waiting container may go to a node; none if no container may before an
    /// executor starts or ends there, or an application of another kind begins to wait.
    pub(in crate::simulator) fn may_place_from(
        &mut self,
        machine: usize,
        now_ms: i64,
    ) -> Option<i64> {
        let (kinds, mut look) = self.look(machine, now_ms);
        let mut first = None;
        for (number, kind) in kinds.waiting() {
            first = sooner(first, look.may_place_from(number, kind, first));
            if first.is_some_and(|first_ms| first_ms <= now_ms) {
                break;
            }
        }
        first
    }

    /// The same for the containers of one kind, looking no further than to `until_ms`.
    pub(in crate::simulator) fn may_place_one_from(
        &mut self,
        number: usize,
        machine: usize,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Option<i64> {
        let (kinds, mut look) = self.look(machine, now_ms);
        look.may_place_from(number, kinds.kind(number), until_ms)
    }

    fn look(&mut self, machine: usize, now_ms: i64) -> (&Kinds, Look<'_>) {
        let most_booked = self.most_booked * (1.0 + TOLERANCE);
        let bookable = self.free(machine, self.cluster_settings().max_ratio.min(most_booked));
        let look = Look {
            bookable,
            unbooked: self.room(machine, 1.0),
            starvation_wait_ms: self.cluster_settings().starvation_wait_ms,
            may_be_owed: self.follows_demand,
            cluster: self.service.cluster(),
            node: node_of(machine),
            earliest: &mut self.earliest[machine],
            needs: &mut self.needs,
            outlook: None,
            now_ms,
        };
        (&self.kinds, look)
    }
}

/// A look at one node.
struct Look<'a> {
    /// The resources that may still be booked there, and the part within the registered size.
    bookable: Request,
    unbooked: Request,
    starvation_wait_ms: i64,
    /// Whether a queue below its guarantee is placed by request at once.
    may_be_owed: bool,
    cluster: &'a Cluster,
    node: NodeId,
    /// By the number of the kind, the slot before which it does not fit; empty where the policy does not
    /// fit by the plan.
    earliest: &'a mut [u32],
    /// By the number of the kind.
    needs: &'a mut [StartNeeds],
    /// Made for the first kind that needs the outlook.
    outlook: Option<Outlook<'a>>,
    now_ms: i64,
}

impl Look<'_> {
    /// The time from which a container of the kind may go there. Looks no further than to `until_ms`.
    fn may_place_from(
        &mut self,
        number: usize,
        kind: &DemandKind,
        until_ms: Option<i64>,
    ) -> Option<i64> {
        if !kind.request.fits_into(self.bookable) {
            return None;
        }
        let Some(earliest) = self.earliest.get(number).copied() else {
            return Some(self.now_ms);
        };
        let slot = if earliest > slot_at(self.now_ms) {
            earliest
        } else {
            self.find_slot(number, kind, until_ms)
        };
        let fits_ms = (slot != NEVER).then(|| (i64::from(slot) * SLOT).max(self.now_ms));
        sooner(fits_ms, self.starves_from(kind))
    }

    fn find_slot(&mut self, number: usize, kind: &DemandKind, until_ms: Option<i64>) -> u32 {
        let (cluster, node, now_ms) = (self.cluster, self.node, self.now_ms);
        let now_slot = slot_at(now_ms);
        if self.outlook.is_none() {
            self.outlook = Outlook::new(cluster, node, now_ms);
        }
        let until = until_ms.map_or(NEVER, |until_ms| slot_at(until_ms).saturating_add(1));
        let until = until.saturating_sub(now_slot) as usize;
        let (predicted, needs) = (kind.predicted.as_ref(), &mut self.needs[number]);
        let start = self
            .outlook
            .as_ref()
            .and_then(|outlook| outlook.first_start(predicted, kind.request, needs, until));
        let start = start.and_then(|slots| u32::try_from(slots).ok());
        let slot = start.map_or(NEVER, |slots| now_slot.saturating_add(slots));
        self.earliest[number] = slot;
        slot
    }

    /// The time from which the first application of a kind is placed by request; none without room.
    fn starves_from(&self, kind: &DemandKind) -> Option<i64> {
        let since_ms = kind.waits_since_ms()?;
        let has_room = kind.request.fits_into(self.unbooked);
        let wait_ms = if self.may_be_owed { 0 } else { self.starvation_wait_ms };
        has_room.then(|| since_ms.saturating_add(wait_ms))
    }
}

fn slot_at(at_ms: i64) -> u32 {
    u32::try_from(at_ms.div_euclid(SLOT)).unwrap_or(NEVER - 1)
}

fn sooner(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    [a, b].into_iter().flatten().min()
}
