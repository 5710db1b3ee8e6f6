//! The limits that keep an application from a node, with their amounts, worked out on demand.

use std::sync::Arc;

use super::booked::{Booked, Ratios};
use super::headroom::next_of;
use super::shares::{Shares, registered_of};
use super::taken::Next;
use crate::cluster::Cluster;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{ApplicationId, NodeEntry, NodeId, RegisteredOnly, Request, State};
use crate::cluster::waiting::{Note, WaitingTable};
use crate::resources::Resource;

/// What is taken of a limit, of the resource that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Memory, in bytes; or CPU, in thousandths of virtual cores.
    pub resource: Resource,
    /// What is taken now.
    pub taken: u64,
    /// What the next container would add; 0 where it does not count.
    pub added: u64,
    /// The limit.
    pub at_most: u64,
}

/// A limit that leaves no room for an application's next container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitUse {
    /// A queue's maximum capacity, by demand.
    QueueMaximum {
        /// Its path.
        queue: Arc<str>,
        /// By demand.
        demanded: Filled,
    },
    /// A queue's maximum capacity times its ceiling, by request.
    QueueCeiling {
        /// Its path.
        queue: Arc<str>,
        /// By request.
        requested: Filled,
    },
    /// A user's limit in a leaf queue. Both amounts are above it.
    User {
        /// Who.
        user: Arc<str>,
        /// Where.
        queue: Arc<str>,
        /// By request.
        requested: Filled,
        /// By demand.
        demanded: Filled,
    },
    /// The node's registered size, since another queue waits for its guarantee.
    Yields {
        /// The path of that queue.
        to: Arc<str>,
        /// What that queue has of its guarantee, by request.
        guaranteed: Filled,
        /// What is booked of the node's registered size.
        registered: Filled,
    },
    /// The node's registered size.
    RegisteredOnly {
        /// Why the node takes no more than that.
        why: RegisteredOnly,
        /// What is booked of it.
        registered: Filled,
        /// Until when, if this ends by itself.
        until_ms: Option<i64>,
    },
}

impl Filled {
    /// By how much the limit is or would be exceeded.
    pub fn excess(self) -> u64 {
        self.taken.saturating_add(self.added).saturating_sub(self.at_most)
    }

    fn of(resource: Resource, taken: Booked, added: Booked, at_most: Booked) -> Self {
        let amount = |booked: Booked| {
            let amount = match resource {
                Resource::Memory => booked.memory_bytes,
                Resource::Cpu | Resource::Network | Resource::Disk => booked.millivcores,
            };
            u64::try_from(amount).unwrap_or(0)
        };
        Self { resource, taken: amount(taken), added: amount(added), at_most: amount(at_most) }
    }

    /// Of the first resource of which one more container would exceed the limit.
    fn over(taken: Booked, added: Booked, at_most: Booked) -> Option<Self> {
        let filled = [Resource::Memory, Resource::Cpu]
            .map(|resource| Self::of(resource, taken, added, at_most));
        filled.into_iter().find(|filled| filled.excess() > 0)
    }

    /// Of the resource of which the larger part of `whole` is taken.
    fn dominant(taken: Booked, at_most: Booked, whole: Booked) -> Self {
        let Ratios { memory, vcores } = taken.over(whole, 0.0);
        let resource = if vcores > memory { Resource::Cpu } else { Resource::Memory };
        Self::of(resource, taken, Booked::default(), at_most)
    }
}

impl LimitUse {
    /// The limit behind [`Cluster::wait_reason`] with its amounts now; none if the limit leaves room by now, or the reason
    /// is about none.
    pub fn of(cluster: &Cluster, application: ApplicationId, now_ms: i64) -> Option<Self> {
        let Cluster { settings, state, bookable, waiting, .. } = cluster;
        limit_use(settings, &bookable.shares, state, waiting, application, now_ms)
    }
}

/// What an application's next container and its node have of the limit that a note is about.
fn limit_use(
    settings: &ClusterSettings,
    shares: &Shares,
    state: &State,
    waiting: &WaitingTable,
    application: ApplicationId,
    now_ms: i64,
) -> Option<LimitUse> {
    let note = waiting.note_of(application)?;
    let application = state.applications.get(&application)?;
    let ask = application.waiting?;
    let entry_of = |node: NodeId| state.nodes.get(node);
    match note {
        Note::AtMaximum { node } => {
            let next = next_of(settings, waiting, application, &ask, entry_of(node)?);
            of_queue(shares, &next)
        }
        Note::UserAtLimit { node } => {
            let next = next_of(settings, waiting, application, &ask, entry_of(node)?);
            of_user(shares, &next)
        }
        Note::Yields { node } => {
            of_guarantee(shares, entry_of(node)?, &application.queue, ask.request)
        }
        Note::RegisteredOnly { node, .. } => {
            let entry = entry_of(node)?;
            let observed = application.demands.observed();
            let why = entry.keeps_out(observed, ask.request, now_ms)?;
            let until_ms = match why {
                RegisteredOnly::Observed(_) => None,
                RegisteredOnly::ShortOfMemory => entry.short_until_ms(),
            };
            let registered = of_node(entry, ask.request)?;
            Some(LimitUse::RegisteredOnly { why, registered, until_ms })
        }
        _ => None,
    }
}

/// The same figures as in [`Shares::at_maximum`].
fn of_queue(shares: &Shares, next: &Next<'_>) -> Option<LimitUse> {
    let path = shares.at_maximum(next)?;
    let part = shares.known(path, next.label)?;
    let registered = registered_of(&shares.registered, next.label);
    let (taken, added, queue) = (part.taken, next.container, path.into());
    let by_demand = part.at_most_by_demand(registered);
    let over = by_demand.and_then(|limit| Filled::over(taken.demanded, added.demanded, limit));
    if let Some(demanded) = over {
        return Some(LimitUse::QueueMaximum { queue, demanded });
    }
    let ceiling = part.at_most(registered).scaled(Ratios::both(shares.ceiling(path)));
    let requested = Filled::over(taken.requested, added.requested, ceiling)?;
    Some(LimitUse::QueueCeiling { queue, requested })
}

/// The same figures as in [`Shares::is_user_at_limit`], which compares dominant shares.
fn of_user(shares: &Shares, next: &Next<'_>) -> Option<LimitUse> {
    if !shares.is_user_at_limit(next) {
        return None;
    }
    let registered = registered_of(&shares.registered, next.label);
    let part = shares.known(next.queue, next.label)?;
    let limit = part.user_limit(registered, next)?.dominant_share(registered);
    let at_most = registered.scaled(Ratios::both(limit));
    let taken = part.users.of(next.user);
    let filled = |taken| Filled::dominant(taken, at_most, registered);
    Some(LimitUse::User {
        user: next.user.into(),
        queue: next.queue.into(),
        requested: filled(taken.requested),
        demanded: filled(taken.demanded),
    })
}

/// The same figures as in [`Shares::yields_on`]. A queue waits for its guarantee until it has the guaranteed amount of
/// one resource, so of its resources the one of which it has the largest part decides.
fn of_guarantee(
    shares: &Shares,
    entry: &NodeEntry,
    queue: &str,
    request: Request,
) -> Option<LimitUse> {
    let registered = of_node(entry, request)?;
    let to = shares.yields_to(queue, &entry.label)?;
    let part = shares.known(to, &entry.label)?;
    let guarantee = part.guaranteed(registered_of(&shares.registered, &entry.label));
    let guaranteed = Filled::dominant(part.taken.requested, guarantee, guarantee);
    Some(LimitUse::Yields { to: Arc::clone(to), guaranteed, registered })
}

/// The same figures as in [`NodeEntry::has_room_by_request`].
fn of_node(entry: &NodeEntry, request: Request) -> Option<Filled> {
    let (booked, registered) = (entry.booked.into(), entry.registered.into());
    let over = |resource, added| Some(Filled::of(resource, booked, added, registered));
    let free = entry.registered.minus(entry.booked);
    let added = Booked::from(request);
    if request.memory_bytes > free.memory_bytes {
        over(Resource::Memory, added)
    } else if request.vcores > free.vcores {
        over(Resource::Cpu, added)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(memory_bytes: i64, millivcores: i64) -> Booked {
        Booked { memory_bytes, millivcores }
    }

    #[test]
    fn the_first_resource_that_exceeds_is_told() {
        let over = |taken| Filled::over(taken, booked(10, 1_000), booked(100, 4_000));
        let cores = Filled { resource: Resource::Cpu, taken: 3_500, added: 1_000, at_most: 4_000 };
        assert_eq!(over(booked(90, 3_500)), Some(cores));
        assert_eq!(cores.excess(), 500);
        let memory = Filled { resource: Resource::Memory, taken: 91, added: 10, at_most: 100 };
        assert_eq!(over(booked(91, 3_500)), Some(memory));
        assert_eq!(over(booked(90, 3_000)), None);
    }

    #[test]
    fn the_larger_part_is_told() {
        let whole = booked(100, 8_000);
        let dominant = |taken| Filled::dominant(taken, booked(50, 4_000), whole);
        assert_eq!(dominant(booked(60, 4_700)).resource, Resource::Memory);
        let cores = Filled { resource: Resource::Cpu, taken: 4_900, added: 0, at_most: 4_000 };
        assert_eq!(dominant(booked(60, 4_900)), cores);
    }
}
