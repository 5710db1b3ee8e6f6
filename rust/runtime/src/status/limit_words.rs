//! A limit with its amounts, in words.

use elastane_core::Resource;
use elastane_core::cluster::{Filled, LimitUse, RegisteredOnly};

/// A limit that leaves no room for an application's next container, in a sentence.
pub(super) fn words_of(limit: &LimitUse, now_ms: i64) -> String {
    match limit {
        LimitUse::QueueMaximum { queue, demanded } => {
            let exceeded = exceeded(demanded, "in predicted use");
            format!("queue {queue} is at its maximum-capacity: {exceeded}")
        }
        LimitUse::QueueCeiling { queue, requested } => {
            let exceeded = exceeded(requested, "requested");
            format!(
                "queue {queue} is at its maximum-capacity times overcommit.max-ratio.queue: {exceeded}"
            )
        }
        LimitUse::User { user, queue, requested, demanded } => {
            let (by_requests, by_use) = (above(requested), above(demanded));
            format!(
                "user {user} is above its limit in queue {queue}, by requests ({by_requests}) and by predicted use \
                 ({by_use}); its next container starts once one of the two is within the limit"
            )
        }
        LimitUse::Yields { to, guaranteed, registered } => {
            let (has, exceeded) = (taken(guaranteed), exceeded(registered, "booked"));
            format!(
                "queue {to} waits for its guarantee (it has {has}) and goes first to capacity above the node's \
                 registered size: {exceeded}"
            )
        }
        LimitUse::RegisteredOnly { why, registered, until_ms } => {
            let why = registered_only(*why, until_ms.map(|until_ms| until_ms - now_ms));
            format!("{why}: {}", exceeded(registered, "booked"))
        }
    }
}

fn registered_only(why: RegisteredOnly, for_ms: Option<i64>) -> String {
    match why {
        RegisteredOnly::Observed(observed) => format!(
            "it is in mode observe, set by {}, and starts only within a node's registered size",
            observed.by()
        ),
        RegisteredOnly::ShortOfMemory => {
            let for_s = for_ms.map(|for_ms| format!(" for another {} s", for_ms.max(0) / 1_000));
            format!(
                "the node was short of memory and is booked up to its registered size only{}",
                for_s.unwrap_or_default()
            )
        }
    }
}

/// What is taken, what one more container would add, and by how much that is too much.
fn exceeded(filled: &Filled, how: &str) -> String {
    let amount = |amount| with_unit(filled.resource, amount);
    let (added, excess) = (amount(filled.added), amount(filled.excess()));
    format!(
        "{} are {how}, and the application's next container would add {added}, {excess} too much",
        taken(filled)
    )
}

/// What is taken, and by how much that is above the limit.
fn above(filled: &Filled) -> String {
    format!("{}, {} too much", taken(filled), with_unit(filled.resource, filled.excess()))
}

fn taken(filled: &Filled) -> String {
    let Filled { resource, taken, at_most, .. } = *filled;
    match resource {
        Resource::Memory => format!("{} of {} MiB of memory", mib_up(taken), at_most >> 20),
        _ => format!("{} of {} virtual cores", tenths(taken.div_ceil(100)), tenths(at_most / 100)),
    }
}

/// Rounded up, so that nothing that is missing reads as 0.
fn with_unit(resource: Resource, amount: u64) -> String {
    match resource {
        Resource::Memory => format!("{} MiB", mib_up(amount)),
        _ => format!("{} virtual cores", tenths(amount.div_ceil(100))),
    }
}

fn mib_up(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn memory(taken: u64, added: u64, at_most: u64) -> Filled {
        let resource = Resource::Memory;
        Filled { resource, taken: taken * MIB, added: added * MIB, at_most: at_most * MIB }
    }

    fn cores(taken: u64, added: u64, at_most: u64) -> Filled {
        Filled { resource: Resource::Cpu, taken, added, at_most }
    }

    #[test]
    fn a_queue_has_what_it_takes_of_its_maximum() {
        let queue = "root.a".into();
        let limit = LimitUse::QueueMaximum { queue, demanded: cores(3_950, 1_210, 4_000) };
        assert_eq!(
            words_of(&limit, 0),
            "queue root.a is at its maximum-capacity: 4.0 of 4.0 virtual cores are in predicted use, and the \
             application's next container would add 1.3 virtual cores, 1.2 virtual cores too much"
        );
        let queue = "root.a".into();
        let limit = LimitUse::QueueCeiling { queue, requested: memory(6_000, 1_024, 6_144) };
        assert_eq!(
            words_of(&limit, 0),
            "queue root.a is at its maximum-capacity times overcommit.max-ratio.queue: 6000 of 6144 MiB of memory are \
             requested, and the application's next container would add 1024 MiB, 880 MiB too much"
        );
    }

    #[test]
    fn a_user_is_above_its_limit_in_the_resource_of_which_it_takes_most() {
        let limit = LimitUse::User {
            user: "u".into(),
            queue: "root.a".into(),
            requested: memory(5_120, 0, 4_096),
            demanded: cores(4_500, 0, 4_000),
        };
        assert_eq!(
            words_of(&limit, 0),
            "user u is above its limit in queue root.a, by requests (5120 of 4096 MiB of memory, 1024 MiB too \
             much) and by predicted use (4.5 of 4.0 virtual cores, 0.5 virtual cores too much); its next \
             container starts once one of the two is within the limit"
        );
    }

    #[test]
    fn a_node_short_of_memory_has_the_time_until_it_is_raised_again() {
        let limit = LimitUse::RegisteredOnly {
            why: RegisteredOnly::ShortOfMemory,
            registered: memory(6_144, 3_072, 8_192),
            until_ms: Some(313_000),
        };
        assert_eq!(
            words_of(&limit, 13_500),
            "the node was short of memory and is booked up to its registered size only for another 299 s: 6144 \
             of 8192 MiB of memory are booked, and the application's next container would add 3072 MiB, 1024 \
             MiB too much"
        );
    }

    #[test]
    fn a_missing_byte_is_a_mib_too_much() {
        let short = Filled { resource: Resource::Memory, taken: 1, added: 0, at_most: 0 };
        assert_eq!(above(&short), "1 of 0 MiB of memory, 1 MiB too much");
    }
}
