//! A round for policies that are evaluated application by application.

use std::collections::HashMap;

use super::{Offer, Round, is_user_at_limit};
use crate::cluster::patience::{admit, urgency, waits_for_others};
use crate::cluster::ranking::{Contender, Judge, Prospect, Rank, Urgency};
use crate::cluster::state::{ApplicationId, PlacedReason, Request};
use crate::cluster::waiting::Note;
use crate::policy::{Turn, Waiting};

/// The contenders for the node, best first.
pub(super) fn ask_for_each(round: &mut Round<'_>) -> Option<Vec<Contender>> {
    let offer @ Offer { node, free, free_countables, .. } = round.offer;
    let now_ms = round.now_ms;
    let settings = &round.cluster.settings;
    let entry = round.cluster.state.nodes.get(node)?;
    let judge = Judge::of(round.cluster.policy.as_ref());
    let turns = turns(round);
    let kept = round.cluster.keeper.kept_on(offer, &round.cluster.waiting);
    let held_back = round.cluster.waiting.queues_short_of_memory();
    let mut contenders = Vec::new();
    for row in 0..round.cluster.waiting.lines().len() {
        let line = round.cluster.waiting.lines()[row];
        let id = line.application;
        if !line.is_ordered
            || is_user_at_limit(&line, entry)
            || line.asks_countables
                && !round.cluster.waiting.countables_of(row).fits_into(free_countables)
        {
            continue;
        }
        let (turn, whole) = turns.get(&id).copied().unwrap_or((Turn::Usual, false));
        let waited_ms = now_ms.saturating_sub(line.since_ms);
        // A starving application gets its turn.
        let turn =
            if waited_ms >= settings.starvation_wait_ms { turn.min(Turn::Usual) } else { turn };
        if turn == Turn::NotNow || !line.request.fits_into(free) {
            continue;
        }
        let Some(application) = round.cluster.state.applications.get(&id) else {
            continue;
        };
        let predicted = application.demands.of(line.kind);
        let life = || entry.need(predicted, line.request).life();
        if waits_for_others(&line, held_back.as_deref(), settings, life, now_ms) {
            continue;
        }
        if kept.is_some_and(|kept| !kept.admits(&line, life(), now_ms)) {
            round.cluster.waiting.set_note(row, Note::Kept { node });
            continue;
        }
        if let Some(why) = entry.keeps_out(line.observed, line.request, now_ms) {
            round.cluster.waiting.set_note(row, Note::RegisteredOnly { node, why });
            continue;
        }
        let waiting =
            Waiting { whole, ..application.as_waiting(round.cluster.state.nodes.registered()) };
        let prospect = Prospect::new(judge, entry, predicted, line.request, waiting, now_ms);
        let shares = &round.cluster.bookable.shares;
        // Flows are owed by policies that go by the plan.
        let is_owed = || shares.owes(&application.queue, &entry.label, line.request);
        let owed = |_| is_owed().then_some(PlacedReason::Owed);
        match admit(&prospect, settings, entry, application, line.request, owed, now_ms) {
            Ok(admitted) => {
                let urgency = match admitted {
                    PlacedReason::Fits => urgency(&line, life, now_ms),
                    _ => Urgency::Starves,
                };
                let rank = Rank::new(&line, urgency, turn, prospect.score());
                contenders.push(Contender::new(row, &line, rank));
            }
            Err(excess) => {
                let resource = excess.resource;
                round.cluster.waiting.set_note(row, Note::NoFit { node, resource });
            }
        }
    }
    contenders.sort_unstable();
    Some(contenders)
}

/// For policies with gangs, each application's turn and whether all its containers find room at once.
fn turns(round: &Round<'_>) -> HashMap<ApplicationId, (Turn, bool)> {
    if !round.cluster.policy.needs_gangs() {
        return HashMap::new();
    }
    let mut room_for: HashMap<Request, u64> = HashMap::new();
    let (ids, waiting): (Vec<_>, Vec<_>) = round
        .cluster
        .state
        .applications
        .iter()
        .filter_map(|(id, application)| {
            let ask = application.waiting?;
            let room = room_for.entry(ask.request);
            let room = room.or_insert_with(|| round.cluster.state.nodes.room_for(ask.request));
            let whole = *room >= u64::from(ask.count);
            let waiting = application.as_waiting(round.cluster.state.nodes.registered());
            Some((id, Waiting { whole, ..waiting }))
        })
        .unzip();
    let turns = round.cluster.policy.turns(&waiting, round.now_ms);
    let whole = waiting.iter().map(|waiting| waiting.whole);
    ids.into_iter().zip(turns.into_iter().zip(whole)).collect()
}
